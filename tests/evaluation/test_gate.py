import pytest

from llmwiki.errors import UsageError
from llmwiki.evaluation.evaluation import DatasetScores, costs_of
from llmwiki.evaluation.gate import Minimum, missed, read_minimum, require_known
from llmwiki.evaluation.measures import MEASURES
from tests.evaluation.conftest import make_answer


def scores(dataset: str, value: float | None, name: str = "configured") -> DatasetScores:
    return DatasetScores(
        configuration=name,
        dataset=dataset,
        values={measure: {"q": value} for measure in MEASURES},
        costs=costs_of({"q": make_answer([])}),
    )


def test_a_minimum_is_of_a_measure_on_one_dataset_or_on_each() -> None:
    assert read_minimum("nDCG@10=0.5") == Minimum(measure="nDCG@10", value=0.5, dataset=None)
    assert read_minimum("my:set:R@10=1").dataset == "my:set"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nDCG@10", "write MEASURE=VALUE"),
        ("ndcg@10=0.5", "measures are nDCG@10"),
        ("false_family=0.5", "measures are nDCG@10"),
        ("nDCG@10=half", "'half' is no number"),
        ("nDCG@10=50", "between 0 and 1"),
        ("nDCG@10=nan", "between 0 and 1"),
    ],
)
def test_what_is_no_minimum_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_minimum(text)


def test_a_minimum_on_a_dataset_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="names the dataset 'other'; evaluated are small"):
        require_known([read_minimum("other:R@10=1")], ["small"], MEASURES)


def test_a_minimum_of_what_is_not_measured_is_told() -> None:
    with pytest.raises(UsageError, match="names complete@4; this run measures R@10"):
        require_known([read_minimum("complete@4=1")], ["small"], ["R@10"])


def test_what_is_missed_is_told_with_measure_dataset_value_and_minimum() -> None:
    found = [scores("small", 0.4), scores("large", 0.6)]
    assert missed([read_minimum("nDCG@10=0.5")], found) == (
        "small: nDCG@10 of configured is 0.4000, below the minimum of 0.5",
    )
    assert missed([read_minimum("large:nDCG@10=0.5")], found) == ()
    assert missed([read_minimum("small:nDCG@10=0.4")], found) == ()


def test_a_measure_that_is_not_defined_reaches_no_minimum() -> None:
    [line] = missed([read_minimum("complete@4=0")], [scores("small", None)])
    assert "is not defined" in line
