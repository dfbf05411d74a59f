from collections.abc import Mapping
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.config import BlendWeights
from llmwiki.domain import ChunkId
from llmwiki.retrieval.blend import Judgement, QuestionWords, blend, rare_identifiers
from llmwiki.retrieval.candidates import Candidate
from tests.support.candidates import candidate, ordered

NO_WORDS = QuestionWords()
ONLY_RERANKER = BlendWeights(rerank=1.0, fused=0.0, overlap=0.0, exact_token=0.0)


def judgement(
    scores: Mapping[int, float], lexemes: Mapping[int, set[str]] | None = None
) -> Judgement:
    return Judgement(
        scores={ChunkId(number): score for number, score in scores.items()},
        lexemes={ChunkId(number): held for number, held in (lexemes or {}).items()},
    )


def ids(candidates: tuple[Candidate, ...]) -> list[int]:
    return [each.id for each in candidates]


def test_every_signal_has_its_share_of_the_score() -> None:
    candidates = [
        candidate(1, fused=2.0, identifiers=["--retries", "v1.2"]),
        candidate(2, fused=1.0, identifiers=["--retries"]),
        candidate(3, fused=0.0),
    ]
    words = QuestionWords(
        lexemes={"retri": 3.0, "limit": 1.0}, identifiers={"--retries": 6.0, "v1.2": 2.0}
    )
    judged = judgement({1: -3.0, 2: 1.0, 3: 5.0}, {1: {"retri", "limit"}, 2: {"limit", "x"}})

    scores = {each.id: each.score for each in blend(candidates, judged, words, BlendWeights())}

    assert isclose(scores[ChunkId(1)], 0.4 * 0.0 + 0.3 * 1.0 + 0.3 * 1.0 + 0.2 * 1.0)
    assert isclose(scores[ChunkId(2)], 0.4 * 0.5 + 0.3 * 0.5 + 0.3 * 0.25 + 0.2 * 0.75)
    assert isclose(scores[ChunkId(3)], 0.4 * 1.0 + 0.0 + 0.0 + 0.0)


def test_the_reranker_alone_can_turn_the_order_around() -> None:
    blended = blend(ordered("a", "b", "c"), judgement({1: 0, 2: 1, 3: 2}), NO_WORDS, ONLY_RERANKER)

    assert ids(blended) == [3, 2, 1]


@pytest.mark.parametrize("scale", [lambda score: 100 * score - 7, lambda score: score / 1000])
def test_the_scale_of_a_reranker_does_not_matter(scale: object) -> None:
    assert callable(scale)
    scores = {1: 0.3, 2: 0.9, 3: 0.1}
    candidates = ordered("a", "b", "c")

    plain = blend(candidates, judgement(scores), NO_WORDS, BlendWeights())
    scaled = {number: scale(score) for number, score in scores.items()}

    assert ids(blend(candidates, judgement(scaled), NO_WORDS, BlendWeights())) == ids(plain)


def test_ties_keep_the_order_they_came_in() -> None:
    candidates = [candidate(number, fused=1.0) for number in (3, 1, 2)]

    blended = blend(candidates, judgement({1: 5, 2: 5, 3: 5}), NO_WORDS, BlendWeights())

    assert ids(blended) == [3, 1, 2]


def test_the_fused_scores_and_their_ranks_are_kept() -> None:
    candidates = ordered("a", "b")

    blended = blend(candidates, judgement({1: 0, 2: 1}), NO_WORDS, ONLY_RERANKER)

    assert [each.fused_score for each in blended] == [0.8, 0.9]
    assert [each.ranks for each in blended] == [candidates[1].ranks, candidates[0].ranks]
    assert [each.score for each in candidates] == [0.9, 0.8]


def test_candidates_that_nobody_scored_follow_in_their_order_below_the_others() -> None:
    candidates = ordered("a", "b", "c", "d")

    blended = blend(candidates, judgement({2: 0.0, 4: 1.0}), NO_WORDS, ONLY_RERANKER)

    assert ids(blended) == [4, 2, 1, 3]
    assert [round(each.score, 6) for each in blended] == [1.0, 0.0, 0.0, -0.2]


def test_without_any_score_nothing_changes() -> None:
    candidates = ordered("a", "b")

    assert blend(candidates, judgement({}), NO_WORDS, BlendWeights()) == candidates


def test_an_identifier_in_a_twentieth_of_the_chunks_is_a_common_one() -> None:
    weights = {"rare": 3.0, "common": 2.0, "unknown": 9.0}

    assert rare_identifiers(weights, {"rare": 4, "common": 5}, 100) == {
        "rare": 3.0,
        "unknown": 9.0,
    }


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-9, 9), st.none() | st.floats(-1e9, 1e9)), min_size=1, max_size=12)
)
def test_nobody_is_lost_and_scores_fall(rows: list[tuple[float, float | None]]) -> None:
    candidates = [candidate(number, fused=fused) for number, (fused, _) in enumerate(rows)]
    judged = judgement({number: score for number, (_, score) in enumerate(rows) if score})

    blended = blend(candidates, judged, NO_WORDS, BlendWeights())

    assert sorted(ids(blended)) == list(range(len(rows)))
    scored = [each.score for each in blended if each.id in judged.scores]
    assert scored == sorted(scored, reverse=True)
    rest = [each.id for each in blended[len(scored) :]]
    assert rest == [each.id for each in candidates if each.id not in judged.scores]
