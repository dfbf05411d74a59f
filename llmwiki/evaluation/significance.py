"""Tests whether a difference between two runs could be chance, and how sure a mean is.

Randomisation: were the two configurations the same, each question's difference could as well
have the other sign. The p-value is the share of random signs that give a mean at least as far
from zero, the observed one among them (Smucker, Allan and Carterette, "A comparison of
statistical significance tests for information retrieval evaluation", CIKM 2007).
Corrected for many tests after Holm, "A simple sequentially rejective multiple test procedure",
Scandinavian Journal of Statistics 1979. Everything random is seeded: a report can be repeated.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

PERMUTATIONS = 10_000
SEED = 20_240_601

_ROUNDING = 1e-12
"""Sums of the same numbers in another order differ by less."""
_AT_ONCE = 500
"""Permutations drawn at a time: bounds memory for large sets of questions."""


def randomisation_test(
    strata: Sequence[Sequence[float]], *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> float:
    """Return the two-sided p-value of paired differences.

    Each stratum holds the differences of one dataset; the statistic is the mean of the strata's
    means, so that every dataset counts the same, and signs change within strata. No differences
    at all are no evidence: 1.
    """
    groups = [np.asarray(stratum, dtype=np.float64) for stratum in strata if len(stratum)]
    if not groups:
        return 1.0
    random = np.random.default_rng(seed)
    observed = abs(np.mean([group.mean() for group in groups]))
    extreme = 0
    for start in range(0, permutations, _AT_ONCE):
        count = min(_AT_ONCE, permutations - start)
        means = np.mean([_random_means(random, group, count) for group in groups], axis=0)
        extreme += int(np.count_nonzero(np.abs(means) >= observed - _ROUNDING))
    return (extreme + 1) / (permutations + 1)


def _random_means(
    random: np.random.Generator, group: npt.NDArray[np.float64], count: int
) -> npt.NDArray[np.float64]:
    signs = 2.0 * random.integers(0, 2, size=(count, len(group))) - 1.0
    means: npt.NDArray[np.float64] = signs @ group / len(group)
    return means


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number, in the order given."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def bootstrap_interval(
    values: Sequence[float], *, confidence: float = 0.95, seed: int = SEED
) -> tuple[float, float]:
    """Return the percentile interval of the mean (Efron and Tibshirani 1993).

    Raises ValueError for no values.
    """
    if not values:
        message = "there is no mean of no values"
        raise ValueError(message)
    sample = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            random.choice(sample, size=(_AT_ONCE, len(sample))).mean(axis=1)
            for _ in range(PERMUTATIONS // _AT_ONCE)
        ]
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
