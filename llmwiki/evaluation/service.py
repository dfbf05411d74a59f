"""Runs configurations over datasets, measures, and compares."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import UsageError
from llmwiki.evaluation.comparison import Difference, Scores, compare
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.evaluation import DatasetScores, Evaluation, Task, costs_of
from llmwiki.evaluation.measures import MEASURES, QUALITY, measure, needs_of
from llmwiki.evaluation.retrieved import Retriever
from llmwiki.evaluation.running import DEPTH, Progress, Run, Trial, run_queries
from llmwiki.ports import Clock

log = structlog.get_logger()

OpenRetriever = Callable[[Configuration, Collection], Retriever]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run, and what to show of it."""

    tasks: tuple[Task, ...]
    configurations: tuple[Configuration, ...]
    reference: str | None = None
    """The configuration that the others are compared with; None compares nothing."""
    measures: tuple[str, ...] = MEASURES
    """Those that are measured and shown."""
    depth: int = DEPTH


def evaluate(
    plan: Plan,
    open_retriever: OpenRetriever,
    embedder: EmbedderIdentity,
    clock: Clock,
    *,
    progress: Progress = lambda _what, _done, _total: None,
) -> Evaluation:
    """Ask every question of every dataset in every configuration, and measure the answers.

    Raises UsageError for datasets or configurations of one name, ConfigurationError where the
    extra `evaluation` is not installed, and what the retriever raises.
    """
    require_distinct("dataset", [task.dataset.name for task in plan.tasks])
    require_distinct("configuration", [each.name for each in plan.configurations])
    needs = needs_of(plan.measures, plan.depth)
    runs: list[Run] = []
    scores: list[DatasetScores] = []
    for task in plan.tasks:
        for configuration in plan.configurations:
            retriever = open_retriever(configuration, task.corpus.collection)
            trial = Trial(name=configuration.name, retriever=retriever, ids=task.corpus.ids)
            run = run_queries(trial, task.dataset, clock, needs, progress=progress)
            log.info("evaluation.run.finished", dataset=task.dataset.name, configuration=trial.name)
            runs.append(run)
            scores.append(_score(run, plan.measures))
    return Evaluation(
        created_at=clock.now(),
        embedder=embedder,
        depth=plan.depth,
        configurations=plan.configurations,
        tasks=plan.tasks,
        runs=tuple(runs),
        scores=tuple(scores),
        reference=plan.reference,
        differences=_differences(scores, plan),
        measures=plan.measures,
    )


def require_distinct(what: str, names: Sequence[str]) -> None:
    """Raise UsageError where a name occurs twice."""
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise UsageError(f"two are called {min(repeated)!r}; give each {what} a name of its own")


def _score(run: Run, measures: Sequence[str]) -> DatasetScores:
    return DatasetScores(
        configuration=run.configuration,
        dataset=run.dataset.name,
        values=measure(run, measures),
        costs=costs_of(run.answers),
    )


def _differences(scores: Sequence[DatasetScores], plan: Plan) -> tuple[Difference, ...]:
    if plan.reference is None:
        return ()
    by_configuration: dict[str, dict[str, Scores]] = defaultdict(dict)
    for found in scores:
        by_configuration[found.configuration][found.dataset] = found.values
    base = by_configuration.pop(plan.reference)
    compared = [name for name in plan.measures if name in QUALITY]
    return compare(base, by_configuration, compared)
