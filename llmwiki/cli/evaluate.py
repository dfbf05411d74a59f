"""`llmwiki evaluate`: measures retrieval on judged questions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.evaluating import evaluate_plan, load_tasks, match_tasks, require_free
from llmwiki.cli.output import print_json, print_line, print_problem, run
from llmwiki.errors import UsageError
from llmwiki.evaluation.configurations import CONFIGURED, Configuration, configure
from llmwiki.evaluation.corpus import OWNER, problems_of
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.extras import require_libraries
from llmwiki.evaluation.gate import missed, read_minimum, require_known
from llmwiki.evaluation.measures import MEASURES
from llmwiki.evaluation.reading import read_dataset
from llmwiki.evaluation.report_files import prepare_folder, write_report
from llmwiki.evaluation.report_json import report_facts
from llmwiki.evaluation.report_markdown import report_markdown
from llmwiki.evaluation.running import DEPTH
from llmwiki.evaluation.service import Plan, require_distinct
from llmwiki.evaluation.tables import TABLES

DEEPEST = 100

DatasetsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATASET...",
        help="Folders with corpus.jsonl, queries.jsonl and qrels.tsv (see docs/evaluation.md).",
    ),
]
OrdinaryOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--ordinary",
        metavar="DATASET",
        help="A dataset whose questions require no set of families: those that fire are false.",
    ),
]
CollectionOption = Annotated[
    str | None,
    typer.Option(
        "--collection",
        help="Ask this collection, whose documents' paths are the ids of the judgments. "
        f"Otherwise each corpus is ingested into a collection of its own, owner {OWNER}; "
        "where they should not stand beside others, set LLMWIKI_DATABASE_URL to another database.",
    ),
]
OwnerOption = Annotated[str | None, typer.Option("--owner", help="Whose collection that is.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a setting of [retrieval] (fusion=rrf, weights.dense=0.8), of [rerank] "
        "(rerank.provider=fusion), or wiki=gate|on|off.",
    ),
]
CompareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="KEY=VALUE",
        help="Run with these settings as well, and compare with them as the reference.",
    ),
]
TableOption = Annotated[
    str | None,
    typer.Option("--table", help=f"Run a table of configurations: {', '.join(TABLES)}."),
]
MinimumOption = Annotated[
    list[str] | None,
    typer.Option(
        "--min",
        metavar="[DATASET:]MEASURE=VALUE",
        help="Exit with 1 where the mean is lower, as nDCG@10=0.5.",
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FOLDER", help="Write the report, the transcripts and plots there."
    ),
]
DepthOption = Annotated[
    int,
    typer.Option(
        "--depth",
        min=10,
        max=DEEPEST,
        help="Chunks of the ranking that nDCG and recall are measured on.",
    ),
]
TopicsOption = Annotated[
    bool,
    typer.Option(
        "--with-topics",
        help="Also arrange each corpus into topics, so that the nightly job compiles a wiki of it.",
    ),
]
SpendOption = Annotated[
    bool,
    typer.Option(
        "--spend",
        help="Let the configured chat model and reranking service be asked, which spends the "
        "day's budgets. Otherwise questions are not generalised.",
    ),
]


def command(
    datasets: DatasetsArgument = None,
    *,
    ordinary: OrdinaryOption = None,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    overrides: SetOption = None,
    compare: CompareOption = None,
    table: TableOption = None,
    minimums: MinimumOption = None,
    report: ReportOption = None,
    depth: DepthOption = DEPTH,
    with_topics: TopicsOption = False,
    spend: SpendOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure retrieval on judged questions: relevance, completeness, time, calls and tokens.

    A question is asked up to three times: for contexts of 10 and 4 chunks, and for the ranking.
    """

    def work(app: App) -> int:
        require_libraries(plots=report is not None)
        read = _read(datasets or [], ordinary or [], with_corpus=collection is None)
        wanted = tuple(read_minimum(text) for text in minimums or [])
        plan = _plan(app, overrides or [], compare, table, depth)
        require_known(wanted, [dataset.name for dataset in read], plan.measures)
        if not spend:
            require_free(plan.configurations)
        if report is not None:
            prepare_folder(report)
        if collection is None:
            tasks = load_tasks(app, read, with_topics=with_topics)
        else:
            tasks = match_tasks(app, read, collection, owner)
        evaluation = evaluate_plan(app, replace(plan, tasks=tasks), spend=spend)
        written = () if report is None else write_report(report, evaluation)
        failures = missed(wanted, evaluation.scores)
        problems = problems_of(task.corpus for task in tasks)
        if as_json:
            print_json(**report_facts(evaluation), missed=failures, problems=problems)
        else:
            print_line(report_markdown(evaluation).rstrip("\n"))
        for line in (*problems, *failures, *(f"written: {path}" for path in written)):
            print_problem(line)
        return exit_codes.FAILURES if failures or problems else exit_codes.DONE

    run(work)


def _read(
    paths: Sequence[Path], ordinary: Sequence[Path], *, with_corpus: bool
) -> tuple[Dataset, ...]:
    datasets = (
        *(read_dataset(path, with_corpus=with_corpus) for path in paths),
        *(read_dataset(path, with_corpus=with_corpus, ordinary=True) for path in ordinary),
    )
    if not datasets:
        raise UsageError("no dataset is given; name its folder, or one with --ordinary")
    require_distinct("dataset", [dataset.name for dataset in datasets])
    return datasets


def _plan(
    app: App, overrides: Sequence[str], compare: Sequence[str] | None, name: str | None, depth: int
) -> Plan:
    """Return what to run; the tasks are still to come."""
    base = Configuration(
        name=CONFIGURED, retrieval=app.settings.retrieval, rerank=app.settings.rerank
    )
    configured = configure(base, ", ".join(overrides) or CONFIGURED, overrides)
    if name is not None:
        if compare:
            raise UsageError("--table compares its rows; leave out --compare")
        table = TABLES.get(name)
        if table is None:
            raise UsageError(f"there is no table {name!r}; tables are {', '.join(TABLES)}")
        return Plan(
            tasks=(),
            configurations=table.configurations(configured),
            reference=table.reference,
            measures=table.measures,
            depth=depth,
        )
    if not compare:
        return Plan(tasks=(), configurations=(configured,), depth=depth)
    reference = configure(base, ", ".join(compare), compare)
    return Plan(
        tasks=(),
        configurations=(reference, configured),
        reference=reference.name,
        measures=MEASURES,
        depth=depth,
    )
