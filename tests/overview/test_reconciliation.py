from llmwiki.domain import ChunkId, TopicId
from llmwiki.overview.outline import ProposedTopic
from llmwiki.overview.reconciliation import KnownTopic, Reconciliation
from llmwiki.overview.reconciliation import reconcile as reconcile_by_content


def proposed(key: str, *chunks: int) -> ProposedTopic:
    return ProposedTopic(key=key, title=key, folder="", chunk_ids=tuple(map(ChunkId, chunks)))


def known(
    identifier: int, key: str, *chunks: int, retired: bool = False, source_hash: str | None = None
) -> KnownTopic:
    return KnownTopic(
        id=TopicId(identifier),
        key=key,
        retired=retired,
        chunk_ids=frozenset(map(ChunkId, chunks)),
        source_hash=source_hash,
    )


def reconcile(proposals: list[ProposedTopic], topics: list[KnownTopic]) -> Reconciliation:
    """Reconcile suggestions whose contents are named by their chunks."""
    hashes = [str(proposal.chunk_ids) for proposal in proposals]
    return reconcile_by_content(proposals, hashes, topics)


def continued(result: object) -> dict[int, int]:
    return {index: topic.id for index, topic in result.continued.items()}  # type: ignore[attr-defined]


def test_a_topic_whose_path_changed_is_recognised_by_its_chunks() -> None:
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


def test_a_retired_topic_comes_back_where_its_page_says_the_same_whatever_its_key() -> None:
    result = reconcile(
        [proposed("new/path", 8, 9)],
        [
            known(1, "old/path", retired=True, source_hash="(8, 9)"),
            known(2, "new/path", retired=True, source_hash="(5,)"),
        ],
    )
    assert continued(result) == {0: 1}


def test_of_topics_that_say_the_same_the_namesake_comes_back() -> None:
    result = reconcile(
        [proposed("a", 9), proposed("b", 9)],
        [
            known(1, "b", retired=True, source_hash="(9,)"),
            known(2, "a", retired=True, source_hash="(9,)"),
        ],
    )
    assert continued(result) == {0: 2, 1: 1}


def test_a_page_that_says_the_same_is_kept_before_one_that_shares_more_rows() -> None:
    result = reconcile(
        [proposed("a", 1), proposed("b", 2)],
        [known(1, "a", 1, source_hash="(2,)"), known(2, "b", 2, source_hash="(1,)")],
    )
    assert continued(result) == {0: 2, 1: 1}


def test_a_live_page_is_not_given_up_for_a_retired_one_that_says_the_same() -> None:
    result = reconcile(
        [proposed("a", 1, 2)],
        [known(1, "a", 1, source_hash="(1,)"), known(2, "b", retired=True, source_hash="(1, 2)")],
    )
    assert continued(result) == {0: 1}


def test_of_live_topics_that_say_the_same_each_keeps_its_own_chunks() -> None:
    result = reconcile(
        [proposed("new/a", 1), proposed("new/b", 1, 2)],
        [known(1, "b", 2, source_hash="(1,)"), known(2, "a", 1, source_hash="(1,)")],
    )
    assert continued(result) == {0: 2, 1: 1}
