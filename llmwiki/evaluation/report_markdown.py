"""The report for people: tables of means, of differences with their significance, and of costs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from llmwiki.evaluation.comparison import ALL_DATASETS, Difference
from llmwiki.evaluation.evaluation import Evaluation, Task, steps_of
from llmwiki.evaluation.significance import PERMUTATIONS

UNDEFINED = "n/a"
WORSE, BETTER = "▼", "▲"
"""Marks of a significant difference from the reference."""

MOST_GRIDS = 5
"""Measures that are shown in a grid each; more of them are columns of one table."""


def report_markdown(evaluation: Evaluation) -> str:
    """Return the report as Markdown."""
    parts = [_heading(evaluation), _datasets(evaluation.tasks)]
    if len(evaluation.measures) > MOST_GRIDS:
        parts.append(_means_by_row(evaluation))
    else:
        parts += [_grid(evaluation, measure) for measure in evaluation.measures]
    if evaluation.differences:
        parts.append(_differences(evaluation))
    parts += [_costs(evaluation), _steps(evaluation)]
    return "\n\n".join(parts) + "\n"


def _heading(evaluation: Evaluation) -> str:
    return (
        f"# Evaluation\n\n{evaluation.created_at:%Y-%m-%d %H:%M} UTC, embedder "
        f"{evaluation.embedder.name}, rankings of {evaluation.depth} chunks. A document stands "
        "where its best chunk does."
    )


def _datasets(tasks: Iterable[Task]) -> str:
    rows = [
        [
            task.dataset.name,
            str(len(task.corpus.ids)),
            str(len(task.dataset.queries)),
            str(task.dataset.left_out),
            "none" if task.dataset.ordinary else _mean_families(task),
        ]
        for task in tasks
    ]
    headings = ["dataset", "documents", "questions", "left out", "families a question requires"]
    return _table(headings, rows)


def _mean_families(task: Task) -> str:
    counts = [len(task.dataset.required_families(query.id)) for query in task.dataset.queries]
    return f"{sum(counts) / len(counts):.1f}"


def _means_by_row(evaluation: Evaluation) -> str:
    """Return a row for each dataset and configuration, a column for each measure."""
    columns = _columns(evaluation)
    rows = [
        [
            column,
            each.name,
            *(_cell(evaluation, each.name, column, measure) for measure in evaluation.measures),
        ]
        for column in columns
        for each in evaluation.configurations
    ]
    return _table(["dataset", "configuration", *evaluation.measures], rows)


def _grid(evaluation: Evaluation, measure: str) -> str:
    columns = _columns(evaluation)
    rows = [
        [each.name, *(_cell(evaluation, each.name, column, measure) for column in columns)]
        for each in evaluation.configurations
    ]
    return f"## {measure}\n\n{_table(['configuration', *columns], rows)}"


def _columns(evaluation: Evaluation) -> list[str]:
    several = len(evaluation.datasets) > 1
    return [*evaluation.datasets, *([ALL_DATASETS] if several else [])]


def _cell(evaluation: Evaluation, name: str, column: str, measure: str) -> str:
    if column == ALL_DATASETS:
        value = evaluation.mean_over_datasets(name, measure)
    else:
        value = evaluation.mean_of(name, column, measure)
    difference = evaluation.difference_of(name, column, measure)
    if difference is None or not difference.significant:
        return _number(value)
    return f"{_number(value)} {BETTER if difference.gain > 0 else WORSE}"


def _differences(evaluation: Evaluation) -> str:
    shown = [
        difference
        for difference in evaluation.differences
        if difference.measure in evaluation.measures
    ]
    headings = ["configuration", "dataset", "measure", "reference", "value", "gain"]
    rows = [_difference_row(difference) for difference in shown]
    return (
        f"## Differences from {evaluation.reference}\n\n"
        f"Paired randomisation test with {PERMUTATIONS:,} permutations, two-sided; `corrected` "
        "after Holm, over all tests on datasets and over all on their means. "
        f"{BETTER} and {WORSE}: corrected p below .05.\n\n"
        + _table([*headings, "better / worse / same", "p", "corrected"], rows)
    )


def _difference_row(difference: Difference) -> list[str]:
    return [
        difference.configuration,
        difference.dataset,
        difference.measure,
        _number(difference.reference),
        _number(difference.value),
        f"{difference.gain:+.4f}",
        f"{difference.wins} / {difference.losses} / {difference.ties}",
        _probability(difference.p),
        _probability(difference.corrected_p),
    ]


def _costs(evaluation: Evaluation) -> str:
    rows = []
    for scores in evaluation.scores:
        costs = scores.costs
        calls = (costs.chat_calls, costs.embed_calls, costs.rerank_calls)
        rows.append(
            [
                scores.configuration,
                scores.dataset,
                f"{costs.p50_ms:.0f}",
                f"{costs.p95_ms:.0f}",
                *(f"{count:.2f}" for count in calls),
                f"{costs.input_tokens + costs.output_tokens:.0f}",
            ]
        )
    headings = ["configuration", "dataset", "p50 ms", "p95 ms", "chat calls", "embed calls"]
    return "## A question costs\n\n" + _table([*headings, "rerank calls", "tokens"], rows)


def _steps(evaluation: Evaluation) -> str:
    """Tell how each step ended: what a configuration asks for and what ran are two things."""
    rows = []
    for run in evaluation.runs:
        endings: dict[str, list[str]] = defaultdict(list)
        for (step, ending), count in sorted(steps_of(run.answers.values()).items()):
            endings[step].append(f"{count} {ending}")
        told = "; ".join(f"{step} {', '.join(ended)}" for step, ended in endings.items())
        rows.append([run.configuration, run.dataset.name, told])
    return "## What ran\n\n" + _table(["configuration", "dataset", "steps, by questions"], rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(_lines(headings, rows))


def _lines(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _line(headings)
    yield _line(["---"] * len(headings))
    for row in rows:
        yield _line(row)


def _line(cells: Iterable[str]) -> str:
    escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def _probability(p: float) -> str:
    return f"{p:.4f}"
