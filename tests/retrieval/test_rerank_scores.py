import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.errors import InvalidAnswerError
from llmwiki.retrieval.rerank_scores import check_scores

TEXTS = ["a", "b", "c"]


def test_scores_come_by_the_index_of_their_text() -> None:
    assert check_scores([(2, 0.5), (0, -1.0), (1, 3)], TEXTS, needed=3) == {0: -1.0, 1: 3, 2: 0.5}


def test_texts_may_be_left_out_while_enough_are_there() -> None:
    assert check_scores([(2, 0.5), (0, 0.1)], TEXTS, needed=2) == {2: 0.5, 0: 0.1}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([(0, 0.1), (1, 0.2), (3, 0.3)], "scored text 3 of 3"),
        ([(0, 0.1), (1, 0.2), (-1, 0.3)], "scored text -1 of 3"),
        ([(0, 0.1), (1, 0.2), (1, 0.2)], "text 1 twice"),
        ([(0, 0.1), (1, 0.2), (2, 0.3), (0, 0.1)], "text 0 twice"),
        ([(0, 0.1), (1, math.nan), (2, 0.3)], "text 1 the score nan"),
        ([(0, 0.1), (1, math.inf), (2, 0.3)], "text 1 the score inf"),
        ([(0, 0.1), (1, 1e300), (2, 0.3)], r"text 1 the score 1e\+300"),
        ([(0, 0.1), (1, 0.2)], "scored 2 of 3 texts, and 3 are needed"),
        ([], "scored 0 of 3 texts"),
        ([(0, 0.0), (1, 0.0), (2, 0.0)], r"3 texts the same score, 0\.0"),
        ([(0, 0.9), (1, 0.9), (2, 0.9)], r"3 texts the same score, 0\.9"),
    ],
)
def test_a_lie_is_an_error_that_says_what_is_wrong(
    answer: list[tuple[int, float]], problem: str
) -> None:
    with pytest.raises(InvalidAnswerError, match=problem):
        check_scores(answer, TEXTS, needed=3)


def test_equal_texts_have_equal_scores() -> None:
    assert check_scores([(0, 0.0), (1, 0.0)], ["a", "a"], needed=2) == {0: 0.0, 1: 0.0}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 4), st.floats()), max_size=6),
    st.integers(min_value=1, max_value=3),
)
def test_what_passes_is_finite_within_range_and_enough(
    answer: list[tuple[int, float]], needed: int
) -> None:
    try:
        scores = check_scores(answer, TEXTS, needed=needed)
    except InvalidAnswerError:
        return
    assert needed <= len(scores) <= len(TEXTS)
    assert set(scores) <= set(range(len(TEXTS)))
    assert all(map(math.isfinite, scores.values()))
