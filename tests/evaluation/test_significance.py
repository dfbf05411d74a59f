from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.evaluation.significance import bootstrap_interval, holm, randomisation_test

PROBABILITIES = st.lists(st.floats(0, 1), max_size=20)


def test_runs_without_a_difference_are_no_evidence() -> None:
    assert randomisation_test([[0.0] * 50]) == 1
    assert randomisation_test([]) == 1
    assert randomisation_test([[]]) == 1


def test_a_clear_difference_has_the_least_p_that_so_many_permutations_allow() -> None:
    assert randomisation_test([[0.3] * 60]) == pytest.approx(1 / 10_001)


def test_p_is_the_share_of_signs_as_extreme_as_those_observed() -> None:
    differences = [0.5, 0.4, 0.3, -0.1, 0.2]
    observed = sum(differences)
    sums = [
        sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    exact = sum(abs(total) >= observed - 1e-12 for total in sums) / len(sums)
    assert randomisation_test([differences]) == pytest.approx(exact, abs=0.01)


def test_the_test_is_two_sided_and_repeatable() -> None:
    differences = [0.2, -0.1, 0.3, 0.05, -0.02, 0.1]
    p = randomisation_test([differences])
    assert p == randomisation_test([differences])
    assert p == randomisation_test([[-difference for difference in differences]])


def test_each_stratum_counts_the_same_however_many_questions_it_has() -> None:
    small_gain, large_loss = [0.5] * 12, [-0.01] * 500
    assert randomisation_test([small_gain, large_loss]) < 0.001
    assert randomisation_test([[*small_gain, *large_loss]]) > 0.05


def test_holm_multiplies_the_least_p_most_and_keeps_the_order() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


@given(PROBABILITIES)
def test_corrected_values_are_no_smaller_no_more_than_one_and_ordered_alike(
    p_values: list[float],
) -> None:
    corrected = holm(p_values)
    for p, after in zip(p_values, corrected, strict=True):
        assert p <= after <= 1
    by_p = sorted(zip(p_values, corrected, strict=True))
    assert [after for _, after in by_p] == sorted(corrected)


def test_an_interval_holds_the_mean_and_narrows_with_the_number_of_values() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    low, high = bootstrap_interval(few)
    assert low < 0.5 < high
    closer_low, closer_high = bootstrap_interval(many)
    assert low < closer_low < 0.5 < closer_high < high
    assert bootstrap_interval([0.25] * 5) == (0.25, 0.25)


def test_there_is_no_interval_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap_interval([])
