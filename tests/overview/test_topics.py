from collections.abc import Sequence
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.config import OverviewSettings
from llmwiki.domain import ChunkId
from llmwiki.overview.outline import DocumentOutline, SectionOutline
from llmwiki.overview.topics import document_key, propose_topics

SETTINGS = OverviewSettings(topic_tokens=1000, small_document_tokens=200)
_ids = count(1)


def document(path: str, *sections: tuple[str, int], title: str | None = None) -> DocumentOutline:
    name = title or path
    return DocumentOutline(
        path=path,
        title=name,
        sections=tuple(outline((name, heading), tokens) for heading, tokens in sections),
    )


def outline(breadcrumb: tuple[str, ...], tokens: int) -> SectionOutline:
    sizes = [200] * (tokens // 200) + ([tokens % 200] if tokens % 200 else [])
    identifiers = tuple(ChunkId(next(_ids)) for _ in sizes)
    return SectionOutline(
        breadcrumb=breadcrumb,
        chunk_ids=identifiers,
        content_hashes=tuple(f"hash {identifier}" for identifier in identifiers),
        token_counts=tuple(sizes),
    )


def keys(documents: Sequence[DocumentOutline]) -> list[str]:
    return [topic.key for topic in propose_topics(documents, SETTINGS)]


def test_a_document_of_ordinary_size_is_a_topic_named_by_its_path() -> None:
    assert keys([document("guide/Install.md", ("Linux", 500))]) == ["guide/install"]


def test_small_siblings_share_a_topic_and_cousins_do_not() -> None:
    siblings = [document(f"notes/{name}.md", ("Text", 60)) for name in "ab"]
    cousin = document("other/c.md", ("Text", 60))
    topics = propose_topics([*siblings, cousin], SETTINGS)
    assert [len(topic.chunk_ids) for topic in topics] == [2, 1]


def test_a_large_document_is_divided_by_its_headings() -> None:
    large = document("big.md", *[(f"Part {number}", 800) for number in range(5)])
    topics = propose_topics([large], SETTINGS)
    assert len(topics) == 5
    assert topics[0].key == "big"
    assert topics[3].key == "big/part-3"
    assert topics[3].title == "big.md: Part 3"


def test_one_huge_section_is_divided_by_its_chunks() -> None:
    topics = propose_topics([document("log.md", ("Entries", 20_000))], SETTINGS)
    assert len(topics) > 10
    assert all(len(topic.chunk_ids) * 200 <= 1000 for topic in topics)


def test_every_chunk_belongs_to_exactly_one_topic() -> None:
    documents = [
        document(f"folder{number % 3}/{number}.md", ("A", 70 * number), ("B", 300))
        for number in range(30)
    ]
    owned = [chunk for topic in propose_topics(documents, SETTINGS) for chunk in topic.chunk_ids]
    assert sorted(owned) == sorted(c for document in documents for c in document.chunk_ids)


def test_a_document_without_text_is_no_topic() -> None:
    assert keys([document("empty.md")]) == []


def test_index_files_stand_for_their_folder() -> None:
    assert document_key("guide/_index.md") == "guide"
    assert document_key("guide/README.md") == "guide"
    assert document_key("index.md") == "index"


def test_keys_are_distinct_where_names_fall_together() -> None:
    names = ["a b.md", "a-b.md", "A-B.md", "overview.md", "安装.md", "安装!.md"]
    found = keys([document(name, ("Text", 500)) for name in names])
    assert len(set(found)) == len(names)
    assert "overview" not in found


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1500)), max_size=15))
def test_topics_do_not_depend_on_the_order_in_which_documents_are_listed(
    shape: list[tuple[str, int]],
) -> None:
    documents = [
        document(f"{folder}/{number}.md", ("Text", tokens))
        for number, (folder, tokens) in enumerate(shape)
    ]
    assert propose_topics(documents, SETTINGS) == propose_topics(documents[::-1], SETTINGS)
