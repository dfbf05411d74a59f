"""`llmwiki ingest`: brings a collection to the state of folders of documents."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from jobs import exit_codes
from jobs.entry import DryRunOption, JsonOption
from jobs.runner import JobContext, JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.cli.job_result import print_result
from llmwiki.cli.output import print_problem, run
from llmwiki.cli.progress import progress_bar
from llmwiki.errors import UsageError
from llmwiki.ingest.service import IngestReport, foretell_ingest, ingest_folder
from llmwiki.overview.service import OverviewReport, refresh_overview
from llmwiki.store.collections import DEFAULT_OWNER

PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Folders or files that hold the documents.")
]
NameOption = Annotated[
    str, typer.Option("--collection", help="The collection; created where there is none.")
]
OwnerOption = Annotated[str, typer.Option("--owner", help="Who owns the collection.")]
ShrinkOption = Annotated[
    bool,
    typer.Option("--allow-shrink", help="Let the run remove more than half of the documents."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """An ingest as the command line asks for it."""

    roots: Sequence[Path]
    collection: str
    owner: str
    allow_shrink: bool
    dry_run: bool


def command(
    paths: PathsArgument,
    *,
    collection: NameOption,
    owner: OwnerOption = DEFAULT_OWNER,
    allow_shrink: ShrinkOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read documents into a collection; only what changed costs anything."""

    def work(app: App) -> int:
        started = time.monotonic()
        order = _Order(
            roots=_roots(paths),
            collection=collection,
            owner=owner,
            allow_shrink=allow_shrink,
            dry_run=dry_run,
        )
        # Two ingests of one collection would write over each other; others may run beside it.
        job = f"ingest:{owner}/{collection}"
        options = JobOptions(collections=(), dry_run=dry_run)
        result = run_job(app, job, options, partial(_carry_out, order))
        _tell_problems(result)
        print_result("ingest", result, started=started, as_json=as_json, dry_run=dry_run)
        return result.exit_code

    run(work)


def _carry_out(order: _Order, context: JobContext) -> JobResult:
    app = context.app
    settings = app.settings
    if order.dry_run:
        foretold = foretell_ingest(
            app.engine,
            settings.ingest,
            order.roots,
            order.collection,
            owner=order.owner,
            allow_shrink=order.allow_shrink,
        )
        return _result(order, foretold, None)
    with progress_bar("ingest") as report:
        found, ingested = ingest_folder(
            app.engine,
            app.embedder,
            settings.ingest,
            order.roots,
            order.collection,
            owner=order.owner,
            allow_shrink=order.allow_shrink,
            exact_below=settings.retrieval.exact_below,
            progress=report,
        )
    overview = refresh_overview(app.engine, app.embedder, settings.overview, found)
    return _result(order, ingested, overview)


def _roots(paths: list[str]) -> list[Path]:
    """Refuse an empty path, which an unset variable leaves and which means the working folder."""
    if not all(path.strip() for path in paths):
        raise UsageError("a path is empty; name a folder, or `.` for the working folder")
    return [Path(path) for path in paths]


def _result(order: _Order, ingested: IngestReport, overview: OverviewReport | None) -> JobResult:
    problems = [
        {"path": problem.path, "problem": problem.problem, "remedy": problem.remedy}
        for problem in ingested.problems
    ]
    facts: dict[str, Any] = {
        "collection": order.collection,
        "owner": order.owner,
        **{name: getattr(ingested, name) for name in ingested.__slots__},
        "problems": problems,
        "overview": None if overview is None else asdict(overview),
    }
    return JobResult(
        exit_code=exit_codes.FAILURES if problems else exit_codes.DONE,
        facts=facts,
        lines=(_summary(order.collection, ingested, overview),),
    )


def _summary(name: str, ingested: IngestReport, overview: OverviewReport | None) -> str:
    documents = (
        f"{ingested.added} added, {ingested.changed} changed, {ingested.moved} moved, "
        f"{ingested.removed} removed, {ingested.unchanged} unchanged, "
        f"{len(ingested.problems)} failed, {ingested.ignored} other files"
    )
    if overview is None:
        return f"ingest {name} would leave: {documents}; nothing was written"
    return (
        f"ingest {name}: {documents}; {ingested.embedded} chunks embedded; "
        f"{overview.topics} topics ({overview.added} new, {overview.retired} retired)"
    )


def _tell_problems(result: JobResult) -> None:
    problems: list[Mapping[str, str]] = result.facts["problems"]
    for problem in problems:
        print_problem(f"{problem['path']}: {problem['problem']}; {problem['remedy']}")
