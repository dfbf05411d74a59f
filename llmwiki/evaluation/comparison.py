"""Compares two configurations question by question, on each dataset and over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from llmwiki.errors import UsageError
from llmwiki.evaluation.measures import Values
from llmwiki.evaluation.significance import holm, randomisation_test

ALL_DATASETS = "all"
"""Stands for the mean over the datasets, each counting the same."""

SIGNIFICANT = 0.05

Scores = Mapping[str, Values]
"""By the measure's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one measure gains or loses against the reference."""

    configuration: str
    dataset: str
    measure: str
    reference: float
    value: float
    wins: int
    losses: int
    ties: int
    p: float
    """Of the paired randomisation test, as it stands."""
    corrected_p: float
    """After Holm, over all tests of the same kind: of datasets, or of means over them."""

    @property
    def gain(self) -> float:
        """The difference of the means."""
        return self.value - self.reference

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below five percent."""
        return self.corrected_p < SIGNIFICANT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """The values of the questions that both sides have."""

    reference: tuple[float, ...]
    value: tuple[float, ...]

    @property
    def differences(self) -> tuple[float, ...]:
        pairs = zip(self.value, self.reference, strict=True)
        return tuple(value - reference for value, reference in pairs)


def compare(
    reference: Mapping[str, Scores],
    others: Mapping[str, Mapping[str, Scores]],
    measures: Sequence[str],
) -> tuple[Difference, ...]:
    """Compare configurations (by name) with the reference, each given by dataset and measure.

    A measure is left out where no question has it on both sides. With several datasets every
    measure is also compared over all of them that have it. Raises UsageError when the two sides
    were not asked the same questions of the same datasets.
    """
    single: list[Difference] = []
    pooled: list[Difference] = []
    for name, scores in others.items():
        _require_same_questions(reference, scores, name)
        for measure in measures:
            pairs = _pairs_by_dataset(reference, scores, measure)
            single += [_difference(name, key, measure, [found]) for key, found in pairs.items()]
            if len(pairs) > 1:
                pooled.append(_difference(name, ALL_DATASETS, measure, list(pairs.values())))
    return (*_corrected(single), *_corrected(pooled))


def _require_same_questions(
    reference: Mapping[str, Scores], scores: Mapping[str, Scores], name: str
) -> None:
    if reference.keys() != scores.keys():
        raise UsageError(
            f"{name} was run on {', '.join(scores)}, and the reference on {', '.join(reference)}; "
            "compare runs over the same datasets"
        )
    for dataset, measures in scores.items():
        for measure, values in measures.items():
            differing = values.keys() ^ reference[dataset].get(measure, {}).keys()
            if differing:
                raise UsageError(
                    f"{dataset}: {len(differing)} questions are in only one of the runs of {name} "
                    f"and of the reference, as {min(differing)!r}; compare runs over the same "
                    "questions"
                )


def _pairs_by_dataset(
    reference: Mapping[str, Scores], scores: Mapping[str, Scores], measure: str
) -> dict[str, _Pairs]:
    found = {}
    for dataset, measures in scores.items():
        pairs = [
            (before, after)
            for query_id, after in measures[measure].items()
            if after is not None and (before := reference[dataset][measure][query_id]) is not None
        ]
        if pairs:
            found[dataset] = _Pairs(
                reference=tuple(before for before, _ in pairs),
                value=tuple(after for _, after in pairs),
            )
    return found


def _difference(
    configuration: str, dataset: str, measure: str, strata: Sequence[_Pairs]
) -> Difference:
    differences = [pairs.differences for pairs in strata]
    signs = [difference for stratum in differences for difference in stratum]
    p = randomisation_test(differences)
    return Difference(
        configuration=configuration,
        dataset=dataset,
        measure=measure,
        reference=fmean(fmean(pairs.reference) for pairs in strata),
        value=fmean(fmean(pairs.value) for pairs in strata),
        wins=sum(sign > 0 for sign in signs),
        losses=sum(sign < 0 for sign in signs),
        ties=sum(sign == 0 for sign in signs),
        p=p,
        corrected_p=p,
    )


def _corrected(differences: Sequence[Difference]) -> list[Difference]:
    corrected = holm([difference.p for difference in differences])
    return [
        replace(difference, corrected_p=p)
        for difference, p in zip(differences, corrected, strict=True)
    ]
