from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.domain import ChunkId
from llmwiki.retrieval.fusion import TierScores, fuse
from llmwiki.retrieval.normalisation import standard_scores


def tier(name: str, scores: dict[int, float], found: int = 10, weight: float = 1.0) -> TierScores:
    """A tier that found its best ``found`` and was completed with the rest."""
    ranked = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))
    return TierScores(
        name=name,
        ranking=tuple(map(ChunkId, ranked[:found])),
        scores={ChunkId(chunk_id): score for chunk_id, score in scores.items()},
        weight=weight,
    )


def order(*tiers: TierScores) -> list[int]:
    return [chunk.chunk_id for chunk in fuse(tiers).chunks]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse([]).chunks == ()


def test_a_single_tier_keeps_its_order_and_its_scores() -> None:
    fusion = fuse([tier("dense", {1: 0.2, 2: 0.9})])
    assert [(chunk.chunk_id, chunk.score) for chunk in fusion.chunks] == [
        (2, 0.9),
        (1, 0.2),
    ]
    assert fusion.chunks[0].ranks == {"dense": 1}


def test_scales_do_not_matter() -> None:
    scores = {1: 0.1, 2: 0.5, 3: 0.9}
    other = {1: 5.0, 2: 9.0, 3: 1.0}
    thousandfold = {chunk_id: 1000 * score + 7 for chunk_id, score in scores.items()}
    first = fuse([tier("a", scores), tier("b", other)])
    second = fuse([tier("a", thousandfold), tier("b", other)])
    for left, right in zip(first.chunks, second.chunks, strict=True):
        assert left.chunk_id == right.chunk_id
        assert isclose(left.score, right.score, abs_tol=1e-9)


def test_a_candidate_counts_with_its_completed_score() -> None:
    lexical = {1: 3.0, 2: 2.9, 3: 0.0, 4: 0.0}
    dense = {1: 0.1, 2: 0.8, 3: 0.82, 4: 0.0}
    assert order(tier("lexical", lexical, found=1), tier("dense", dense, found=2))[0] == 2


def test_weights_decide_between_tiers_that_disagree() -> None:
    lexical, dense = {1: 1.0, 2: 0.0}, {1: 0.0, 2: 1.0}
    assert order(tier("l", lexical, weight=0.2), tier("d", dense, weight=0.8))[0] == 2
    assert order(tier("l", lexical, weight=0.8), tier("d", dense, weight=0.2))[0] == 1


def test_a_tier_that_scores_all_alike_decides_nothing_and_is_named() -> None:
    fusion = fuse([tier("flat", {1: 4.0, 2: 4.0}), tier("dense", {1: 0.1, 2: 0.3})])
    assert [chunk.chunk_id for chunk in fusion.chunks] == [2, 1]
    assert fusion.uninformative == ("flat",)


def test_ties_go_to_the_better_rank_and_then_to_the_lower_id() -> None:
    lexical, dense = {5: 1.0, 3: 0.0}, {5: 0.0, 3: 1.0}
    assert order(tier("l", lexical), tier("d", dense)) == [3, 5]
    assert order(tier("l", lexical, found=1), tier("d", dense, found=2)) == [3, 5]


def test_a_missing_score_is_no_better_than_the_worst_known_one() -> None:
    known = {ChunkId(number): float(number) for number in range(1, 30)}
    standard = standard_scores(known, [*known, ChunkId(99)])
    assert standard[ChunkId(99)] == pytest.approx(-2.0)
    outlier = {ChunkId(1): -50.0} | {ChunkId(number): 1.0 + number for number in range(2, 30)}
    completed = standard_scores(outlier, [*outlier, ChunkId(99)])
    assert completed[ChunkId(99)] == completed[ChunkId(1)] < -2.0


SCORES = st.dictionaries(
    st.integers(1, 40).map(ChunkId), st.floats(-100, 100), min_size=1, max_size=40
)


@given(SCORES)
def test_standard_scores_are_bounded_by_the_number_of_candidates(
    scores: dict[ChunkId, float],
) -> None:
    standard = standard_scores(scores, list(scores))
    assert all(abs(score) <= sqrt(len(scores)) + 1e-6 for score in standard.values())


@given(SCORES, SCORES)
def test_fusing_keeps_every_candidate_once_and_is_symmetric(
    first: dict[ChunkId, float], second: dict[ChunkId, float]
) -> None:
    left = tier("a", {int(chunk_id): score for chunk_id, score in first.items()})
    right = tier("b", {int(chunk_id): score for chunk_id, score in second.items()})
    one, other = fuse([left, right]), fuse([right, left])
    ids = [chunk.chunk_id for chunk in one.chunks]
    assert sorted(ids) == sorted({*left.ranking, *right.ranking})
    assert {chunk.chunk_id: chunk.score for chunk in one.chunks} == pytest.approx(
        {chunk.chunk_id: chunk.score for chunk in other.chunks}
    )
