"""A gate for CI: minimums that a configuration has to reach, and which it missed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmwiki.errors import UsageError
from llmwiki.evaluation.evaluation import DatasetScores
from llmwiki.evaluation.measures import QUALITY, WITNESS_AUTHORITY, mean

GUARDED = (*QUALITY, WITNESS_AUTHORITY)
"""Measures of which more is better, so that a minimum makes sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """The least mean of a measure, on one dataset or on each."""

    measure: str
    value: float
    dataset: str | None


def read_minimum(text: str) -> Minimum:
    """Read ``MEASURE=VALUE`` or ``DATASET:MEASURE=VALUE``. Raises UsageError for anything else."""
    name, _, number = text.rpartition("=")
    dataset, _, measure = name.rpartition(":")
    if measure not in GUARDED:
        raise UsageError(
            f"--min {text}: write MEASURE=VALUE or DATASET:MEASURE=VALUE; measures are "
            f"{', '.join(GUARDED)}"
        )
    try:
        value = float(number)
    except ValueError as error:
        raise UsageError(f"--min {text}: {number!r} is no number") from error
    if not 0 <= value <= 1:
        raise UsageError(f"--min {text}: a mean lies between 0 and 1")
    return Minimum(measure=measure, value=value, dataset=dataset or None)


def require_known(
    minimums: Iterable[Minimum], datasets: Sequence[str], measures: Sequence[str]
) -> None:
    """Raise UsageError for a minimum on a dataset that is not evaluated, or of another measure."""
    for minimum in minimums:
        if minimum.measure not in measures:
            raise UsageError(
                f"--min names {minimum.measure}; this run measures {', '.join(measures)}"
            )
        if minimum.dataset is not None and minimum.dataset not in datasets:
            raise UsageError(
                f"--min names the dataset {minimum.dataset!r}; evaluated are {', '.join(datasets)}"
            )


def missed(minimums: Iterable[Minimum], scores: Iterable[DatasetScores]) -> tuple[str, ...]:
    """Return a line for every minimum that is not reached: what, where, how much, how much less."""
    found = list(scores)
    return tuple(
        f"{score.dataset}: {minimum.measure} of {score.configuration} is "
        f"{_told(mean(score.values[minimum.measure]))}, below the minimum of {minimum.value:g}"
        for minimum in minimums
        for score in found
        if minimum.dataset in (None, score.dataset) and not _reaches(minimum, score)
    )


def _reaches(minimum: Minimum, score: DatasetScores) -> bool:
    # An undefined measure reaches nothing: a gate that cannot be checked is not passed.
    value = mean(score.values[minimum.measure])
    return value is not None and value >= minimum.value


def _told(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"
