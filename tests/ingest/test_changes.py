from collections.abc import Sequence

from llmwiki.domain import ChunkId
from llmwiki.ingest.changes import SectionPlan, SectionValues, plan_changes
from llmwiki.store.chunks import ChunkValues, StoredChunk


def values(text: str, heading: str = "Guide", position: int = 0) -> ChunkValues:
    return ChunkValues(
        position=position,
        breadcrumb=(heading,),
        text=text,
        content_hash=f"hash of {text}",
        token_count=1,
    )


def section(heading: str, *chunks: str) -> SectionValues:
    return SectionValues(
        values=values(" ".join(chunks), heading),
        chunks=tuple(values(text, heading) for text in chunks),
    )


def stored(
    identifier: int, text: str, heading: str = "Guide", parent: int | None = None
) -> StoredChunk:
    return StoredChunk(
        id=ChunkId(identifier),
        parent_id=None if parent is None else ChunkId(parent),
        position=identifier,
        breadcrumb=(heading,),
        text=text,
        content_hash=f"hash of {text}",
        token_count=1,
        embedding_hash=None,
        identifiers=(),
    )


def ids(sections: Sequence[SectionPlan]) -> list[object]:
    return [
        (
            plan.stored.id if plan.stored else None,
            [chunk.stored.id if chunk.stored else None for chunk in plan.chunks],
        )
        for plan in sections
    ]


BEFORE = [
    stored(1, "a b"),
    stored(2, "a", parent=1),
    stored(3, "b", parent=1),
    stored(4, "c", heading="Usage"),
    stored(5, "c", heading="Usage", parent=4),
]


def test_an_unchanged_document_keeps_every_row() -> None:
    plan = plan_changes(BEFORE, [section("Guide", "a", "b"), section("Usage", "c")])
    assert ids(plan.sections) == [(1, [2, 3]), (4, [5])]
    assert plan.removed == ()


def test_an_edited_chunk_takes_over_the_row_of_the_one_that_it_replaces() -> None:
    plan = plan_changes(BEFORE, [section("Guide", "a", "b edited"), section("Usage", "c")])
    assert ids(plan.sections) == [(1, [2, 3]), (4, [5])]
    assert plan.removed == ()


def test_an_added_chunk_has_no_row_and_disturbs_no_other() -> None:
    plan = plan_changes(BEFORE, [section("Guide", "new", "a", "b"), section("Usage", "c")])
    assert ids(plan.sections) == [(1, [None, 2, 3]), (4, [5])]


def test_a_chunk_that_moved_to_another_section_keeps_its_row() -> None:
    plan = plan_changes(BEFORE, [section("Guide", "a"), section("Usage", "c", "b")])
    assert ids(plan.sections) == [(1, [2]), (4, [5, 3])]
    assert plan.removed == ()


def test_a_renamed_section_is_recognised_by_its_content() -> None:
    before = [stored(1, "a", heading="Old"), stored(2, "a", heading="Old", parent=1)]
    plan = plan_changes(before, [section("New", "a")])
    assert ids(plan.sections) == [(1, [2])]


def test_a_removed_section_is_removed_with_its_chunks() -> None:
    plan = plan_changes(BEFORE, [section("Guide", "a", "b")])
    assert set(plan.removed) == {4, 5}


def test_repeated_headings_and_repeated_text_are_matched_in_order() -> None:
    before = [
        stored(1, "same"),
        stored(2, "same", parent=1),
        stored(3, "same"),
        stored(4, "same", parent=3),
    ]
    plan = plan_changes(before, [section("Guide", "same"), section("Guide", "same")])
    assert ids(plan.sections) == [(1, [2]), (3, [4])]
