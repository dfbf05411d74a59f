import pytest

from llmwiki.errors import UsageError
from llmwiki.evaluation.comparison import ALL_DATASETS, Scores, compare
from llmwiki.evaluation.measures import Values

MEASURE = ("nDCG@10",)


def scores(values: Values) -> Scores:
    return {"nDCG@10": values}


def same(value: float, count: int = 40) -> Scores:
    return scores({f"q{number}": value for number in range(count)})


def test_a_gain_on_every_question_is_significant() -> None:
    [difference] = compare({"set": same(0.4)}, {"new": {"set": same(0.6)}}, MEASURE)
    assert difference.gain == pytest.approx(0.2)
    assert (difference.wins, difference.losses, difference.ties) == (40, 0, 0)
    assert difference.significant


def test_identical_runs_differ_in_nothing() -> None:
    [difference] = compare({"set": same(0.4)}, {"same": {"set": same(0.4)}}, MEASURE)
    assert (difference.gain, difference.p, difference.ties) == (0, 1, 40)
    assert not difference.significant


def test_over_all_datasets_each_counts_the_same() -> None:
    reference = {"small": same(0.4, 10), "large": same(0.4, 100)}
    other = {"small": same(0.8, 10), "large": same(0.5, 100)}
    pooled = compare(reference, {"new": other}, MEASURE)[-1]
    assert pooled.dataset == ALL_DATASETS
    assert pooled.value == pytest.approx(0.65)
    assert pooled.gain == pytest.approx(0.25)
    assert pooled.wins == 110


def test_questions_without_the_measure_on_either_side_are_left_out() -> None:
    reference = scores({"q": 0.5, "r": None, "s": 0.25})
    other = scores({"q": 0.75, "r": 1.0, "s": None})
    [difference] = compare({"set": reference}, {"new": {"set": other}}, MEASURE)
    assert (difference.reference, difference.value, difference.wins) == (0.5, 0.75, 1)


def test_a_measure_that_no_question_has_is_left_out() -> None:
    undefined = {"set": scores({"q": None})}
    assert compare(undefined, {"new": undefined}, MEASURE) == ()


def test_p_values_are_corrected_for_the_number_of_tests() -> None:
    reference = {"set": scores({f"q{number}": 0.5 for number in range(8)})}
    better = {"set": scores({f"q{number}": 0.6 for number in range(8)})}
    alone = compare(reference, {"a": better}, MEASURE)
    among_four = compare(reference, dict.fromkeys("abcd", better), MEASURE)
    assert alone[0].corrected_p == alone[0].p
    assert among_four[0].corrected_p == pytest.approx(4 * alone[0].p)


def test_runs_over_other_questions_are_not_compared() -> None:
    with pytest.raises(UsageError, match=r"1 questions are in only one of the runs .* 'q40'"):
        compare({"set": same(0.4, 40)}, {"new": {"set": same(0.4, 41)}}, MEASURE)


def test_runs_over_other_datasets_are_not_compared() -> None:
    with pytest.raises(UsageError, match="compare runs over the same datasets"):
        compare({"set": same(0.4)}, {"new": {"other": same(0.4)}}, MEASURE)
