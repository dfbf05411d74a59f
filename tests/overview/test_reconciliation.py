from llmwiki.domain import ChunkId, TopicId
from llmwiki.overview.outline import ProposedTopic
from llmwiki.overview.reconciliation import KnownTopic, reconcile


def proposed(key: str, *chunks: int) -> ProposedTopic:
    return ProposedTopic(key=key, title=key, folder="", chunk_ids=tuple(map(ChunkId, chunks)))


def known(identifier: int, key: str, *chunks: int, retired: bool = False) -> KnownTopic:
    return KnownTopic(
        id=TopicId(identifier), key=key, retired=retired, chunk_ids=frozenset(map(ChunkId, chunks))
    )


def continued(result: object) -> dict[int, int]:
    return {index: topic.id for index, topic in result.continued.items()}  # type: ignore[attr-defined]


def test_a_topic_whose_path_changed_is_recognised_by_its_passages() -> None:
    result = reconcile([proposed("new/path", 1, 2, 3)], [known(7, "old/path", 1, 2)])
    assert continued(result) == {0: 7}
    assert (result.new_keys, result.gone) == ({}, ())


def test_a_divided_topic_keeps_the_part_that_has_its_key() -> None:
    result = reconcile(
        [proposed("doc", 1), proposed("doc/second", 2, 3, 4)], [known(7, "doc", 1, 2, 3, 4)]
    )
    assert continued(result) == {0: 7}
    assert result.new_keys == {1: "doc/second"}


def test_merged_topics_leave_one_and_retire_the_other() -> None:
    result = reconcile([proposed("a", 1, 2, 3)], [known(1, "a", 1), known(2, "b", 2, 3)])
    assert continued(result) == {0: 1}
    assert result.gone == (TopicId(2),)


def test_a_retired_topic_comes_back_under_its_key() -> None:
    result = reconcile([proposed("a", 9)], [known(1, "a", retired=True)])
    assert continued(result) == {0: 1}


def test_a_new_topic_takes_no_key_that_another_has_or_had() -> None:
    result = reconcile(
        [proposed("a", 1), proposed("a", 2)],
        [known(1, "a", 1), known(2, "a-2", retired=True)],
    )
    assert continued(result) == {0: 1}
    assert result.new_keys == {1: "a-3"}
