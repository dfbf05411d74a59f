import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.domain import ChunkId
from llmwiki.evaluation.diversity import Vector, choose_diverse
from tests.evaluation.conftest import chunk

CHUNKS = [chunk(1, "a", 1.0), chunk(2, "b", 0.9), chunk(3, "c", 0.5), chunk(4, "d", 0.0)]


def vectors(**directions: tuple[float, float]) -> dict[ChunkId, Vector]:
    return {
        ChunkId(" abcd".index(name)): np.array(direction, dtype=np.float32)
        for name, direction in directions.items()
    }


TWINS = vectors(a=(1, 0), b=(1, 0), c=(0, 1), d=(0, 1))


def chosen(relevance_weight: float, limit: int, known: dict[ChunkId, Vector] = TWINS) -> str:
    found = choose_diverse(CHUNKS, known, relevance_weight, limit)
    return "".join(each.document_path for each in found)


def test_relevance_alone_keeps_the_order() -> None:
    assert chosen(1.0, 4) == "abcd"


def test_a_twin_of_what_was_chosen_waits() -> None:
    assert chosen(0.5, 4) == "acbd"


def test_novelty_alone_still_begins_with_the_best() -> None:
    assert chosen(0.0, 2) == "ac"


def test_no_more_are_chosen_than_asked_for() -> None:
    assert chosen(0.5, 2) == "ac"
    assert chosen(0.5, 9) == "acbd"
    assert choose_diverse([], TWINS, 0.5, 3) == ()


def test_a_chunk_without_a_vector_is_like_no_other() -> None:
    assert chosen(0.5, 2, vectors(a=(1, 0))) == "ab"


def test_equal_scores_are_equally_relevant() -> None:
    same = [chunk(1, "a", 0.3), chunk(2, "b", 0.3), chunk(3, "c", 0.3)]
    found = choose_diverse(same, TWINS, 0.5, 3)
    assert [each.document_path for each in found] == ["a", "c", "b"]


@given(st.lists(st.floats(-5, 5), max_size=8), st.floats(0, 1), st.integers(0, 8))
def test_every_chunk_is_chosen_once_at_most(
    scores: list[float], relevance_weight: float, limit: int
) -> None:
    ranked = [
        chunk(number, str(number), score)
        for number, score in enumerate(sorted(scores, reverse=True), start=1)
    ]
    found = choose_diverse(ranked, TWINS, relevance_weight, limit)
    assert len({each.chunk_id for each in found}) == len(found) == min(limit, len(ranked))
