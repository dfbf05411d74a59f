"""What an evaluation found: scores, costs and comparisons. Values, and what follows from them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

import numpy as np

from llmwiki.domain import EmbedderIdentity
from llmwiki.evaluation.comparison import Difference, Scores
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.corpus import LoadedCorpus
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.measures import mean
from llmwiki.evaluation.running import Answer, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Time, calls and tokens of one question; calls and tokens are means."""

    p50_ms: float
    p95_ms: float
    chat_calls: float
    embed_calls: float
    rerank_calls: float
    input_tokens: float
    output_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetScores:
    """One configuration on one dataset."""

    configuration: str
    dataset: str
    values: Scores
    costs: Costs


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A dataset with the collection that holds its corpus."""

    dataset: Dataset
    corpus: LoadedCorpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Configurations over datasets."""

    created_at: datetime
    embedder: EmbedderIdentity
    depth: int
    """Chunks of the deep ranking."""
    configurations: tuple[Configuration, ...]
    tasks: tuple[Task, ...]
    runs: tuple[Run, ...]
    scores: tuple[DatasetScores, ...]
    reference: str | None
    """The configuration that the others are compared with."""
    differences: tuple[Difference, ...]
    measures: tuple[str, ...]
    """Those that the report shows."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets."""
        return tuple(task.dataset.name for task in self.tasks)

    def scores_of(self, configuration: str, dataset: str) -> DatasetScores:
        """Return the scores of one cell."""
        return next(
            scores
            for scores in self.scores
            if (scores.configuration, scores.dataset) == (configuration, dataset)
        )

    def mean_of(self, configuration: str, dataset: str, measure: str) -> float | None:
        """Return the mean of a measure; None where no question has it."""
        return mean(self.scores_of(configuration, dataset).values[measure])

    def mean_over_datasets(self, configuration: str, measure: str) -> float | None:
        """Return the mean of the datasets' means, of those that have the measure."""
        means = [self.mean_of(configuration, dataset, measure) for dataset in self.datasets]
        defined = [value for value in means if value is not None]
        return fmean(defined) if defined else None

    def difference_of(self, configuration: str, dataset: str, measure: str) -> Difference | None:
        """Return how a cell compares with the reference, where it was compared."""
        wanted = (configuration, dataset, measure)
        for difference in self.differences:
            if (difference.configuration, difference.dataset, difference.measure) == wanted:
                return difference
        return None


def costs_of(answers: Mapping[str, Answer]) -> Costs:
    """Return what a question cost, over all of them."""
    times = [answer.milliseconds for answer in answers.values()]
    usages = [answer.retrieved.usage for answer in answers.values()]
    return Costs(
        p50_ms=_percentile(times, 50),
        p95_ms=_percentile(times, 95),
        chat_calls=fmean(usage.chat_calls for usage in usages),
        embed_calls=fmean(usage.embed_calls for usage in usages),
        rerank_calls=fmean(usage.rerank_calls for usage in usages),
        input_tokens=fmean(usage.input_tokens for usage in usages),
        output_tokens=fmean(usage.output_tokens for usage in usages),
    )


def steps_of(answers: Iterable[Answer]) -> Counter[tuple[str, str]]:
    """Count how the steps of the timed contexts ended, by step and ending.

    An ending is ``done``, ``error: CLASS`` or ``skipped: REASON``: what a configuration asks for
    and what ran are two things.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for answer in answers:
        for event in answer.retrieved.events:
            if event["status"] != "active":
                told = event.get("reason") or event.get("error")
                ending = event["status"] if told is None else f"{event['status']}: {told}"
                counts[event["step"], ending] += 1
    return counts


def _percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent))
