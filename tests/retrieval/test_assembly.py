from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.domain import ChunkId, CollectionId, DocumentId
from llmwiki.retrieval.assembly import Assembly, Selection, assemble
from llmwiki.retrieval.candidates import Candidate
from llmwiki.store.found_chunks import FoundChunk


def chunk(key: int, *, document: int = 1, section: int = 100, tokens: int = 10) -> FoundChunk:
    """A chunk whose position is its key."""
    return FoundChunk(
        id=ChunkId(key),
        collection_id=CollectionId(1),
        document_id=DocumentId(document),
        document_path=f"doc{document}.md",
        document_title="Title",
        section_id=ChunkId(section),
        position=key,
        breadcrumb=("Title",),
        text=f"text {key}",
        content_hash=str(key),
        token_count=tokens,
        attributes={},
    )


def candidate(of: FoundChunk, score: float = 1.0, tier: str = "dense") -> Candidate:
    return Candidate(chunk=of, score=score, fused_score=score, ranks={tier: 1})


def put_together(
    found: Sequence[Candidate],
    sections: Sequence[FoundChunk] = (),
    led_to: Sequence[Candidate] = (),
    budget: int = 1000,
) -> Assembly:
    by_section: dict[ChunkId, list[FoundChunk]] = {}
    for each in sections:
        by_section.setdefault(each.section_id, []).append(each)
    selection = Selection(found=tuple(found), led_to=tuple(led_to), sections=by_section)
    return assemble(selection, token_budget=budget)


def shown(assembly: Assembly) -> list[list[int]]:
    return [list(block.chunk_ids) for block in assembly.blocks]


def test_neighbours_of_one_section_become_one_block_in_reading_order() -> None:
    assembly = put_together([candidate(chunk(3)), candidate(chunk(7)), candidate(chunk(2))])
    assert shown(assembly) == [[2, 3], [7]]
    assert assembly.blocks[0].text == "text 2\n\ntext 3"
    assert [block.number for block in assembly.blocks] == [1, 2]


def test_neighbours_of_two_sections_or_documents_stay_apart() -> None:
    found = [
        candidate(chunk(2)),
        candidate(chunk(3, section=101)),
        candidate(chunk(4, document=2, section=102)),
    ]
    assert shown(put_together(found)) == [[2], [3], [4]]


def test_the_best_chunks_get_the_rest_of_their_section_while_tokens_last() -> None:
    section = [chunk(key) for key in range(1, 8)]
    assembly = put_together([candidate(section[3])], section, budget=40)
    assert shown(assembly) == [[2, 3, 4, 5]]
    assert (assembly.surroundings, assembly.tokens) == (3, 40)


def test_surroundings_are_never_torn_from_their_chunk() -> None:
    section = [chunk(1), chunk(2, tokens=500), chunk(3)]
    assembly = put_together([candidate(chunk(1))], section, budget=100)
    assert shown(assembly) == [[1]]


def test_chunks_come_before_surroundings_and_before_what_pages_lead_to() -> None:
    section = [chunk(1), chunk(2)]
    other = chunk(9, document=2, section=200)
    led_to = chunk(20, document=3, section=300)
    found = [candidate(section[0]), candidate(other)]
    assert shown(put_together(found, section, [candidate(led_to)], budget=20)) == [[1], [9]]
    assert shown(put_together(found, section, [candidate(led_to)], budget=30)) == [[1], [9], [20]]
    assert shown(put_together(found, section, [candidate(led_to)], budget=40)) == [
        [1, 2],
        [9],
        [20],
    ]


def test_the_best_chunk_is_shown_whatever_its_length_and_cuts_are_counted() -> None:
    found = [candidate(chunk(1, tokens=900)), candidate(chunk(5))]
    assembly = put_together(found, budget=200)
    assert shown(assembly) == [[1]]
    assert assembly.cut == 1


def test_a_block_says_which_tiers_found_it_or_that_a_page_led_to_it() -> None:
    led_to = Candidate(chunk=chunk(9, section=200), score=0, fused_score=0)
    assembly = put_together(
        [candidate(chunk(1), tier="dense"), candidate(chunk(2), tier="lexical")],
        led_to=[led_to],
    )
    assert [set(block.found_by) for block in assembly.blocks] == [{"dense", "lexical"}, {"page"}]


def test_nothing_found_is_an_empty_context() -> None:
    assert put_together([]).blocks == ()


@given(
    keys=st.lists(st.integers(1, 40), unique=True, max_size=12),
    sizes=st.lists(st.integers(1, 200), min_size=40, max_size=40),
    budget=st.integers(200, 3000),
)
def test_no_chunk_is_shown_twice_and_the_budget_holds(
    keys: list[int], sizes: list[int], budget: int
) -> None:
    section = [chunk(key, section=100 + key // 10, tokens=sizes[key - 1]) for key in range(1, 41)]
    found = [candidate(section[key - 1], score=-rank) for rank, key in enumerate(keys)]
    assembly = put_together(found, section, budget=budget)
    members = [chunk_id for block in assembly.blocks for chunk_id in block.chunk_ids]
    assert len(members) == len(set(members))
    assert sum(block.tokens for block in assembly.blocks) == assembly.tokens <= budget
    assert assembly.cut == len(set(keys) - set(members))
    if sum(sizes[key - 1] for key in keys) <= budget:
        assert set(keys) <= set(members)


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_more_budget_never_takes_a_chunk_away(extra: int) -> None:
    found = [candidate(chunk(key * 2, tokens=30)) for key in range(1, 8)]
    small = put_together(found, budget=100 + extra)
    large = put_together(found, budget=200 + extra)
    members = [{i for block in each.blocks for i in block.chunk_ids} for each in (small, large)]
    assert members[0] <= members[1]
