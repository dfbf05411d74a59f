"""`llmwiki ingest`: brings a collection to the state of folders of documents."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from jobs import exit_codes
from jobs.entry import DryRunOption, JsonOption
from jobs.runner import JobContext, JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.cli.output import print_json, print_line, print_problem, run
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
        roots = _roots(paths)
        # Two ingests of one collection would write over each other; others may run beside it.
        job = f"ingest:{owner}/{collection}"

        def body(context: JobContext) -> JobResult:
            settings = context.app.settings
            if dry_run:
                foretold = foretell_ingest(
                    context.app.engine,
                    settings.ingest,
                    roots,
                    collection,
                    owner=owner,
                    allow_shrink=allow_shrink,
                )
                return _result(collection, owner, foretold, None)
            with progress_bar("ingest") as report:
                found, ingested = ingest_folder(
                    context.app.engine,
                    context.app.embedder,
                    settings.ingest,
                    roots,
                    collection,
                    owner=owner,
                    allow_shrink=allow_shrink,
                    exact_below=settings.retrieval.exact_below,
                    progress=report,
                )
            overview = refresh_overview(
                context.app.engine, context.app.embedder, settings.overview, found
            )
            return _result(collection, owner, ingested, overview)

        result = run_job(app, job, JobOptions(collections=(), dry_run=dry_run), body)
        _print(result, dry_run=dry_run, as_json=as_json, seconds=time.monotonic() - started)
        return result.exit_code

    run(work)


def _roots(paths: list[str]) -> list[Path]:
    """Refuse an empty path, which an unset variable leaves and which means the working folder."""
    if not all(path.strip() for path in paths):
        raise UsageError("a path is empty; name a folder, or `.` for the working folder")
    return [Path(path) for path in paths]


def _result(
    name: str, owner: str, ingested: IngestReport, overview: OverviewReport | None
) -> JobResult:
    problems = [
        {"path": problem.path, "problem": problem.problem, "remedy": problem.remedy}
        for problem in ingested.problems
    ]
    facts: dict[str, Any] = {
        "collection": name,
        "owner": owner,
        **{name: getattr(ingested, name) for name in ingested.__slots__},
        "problems": problems,
        "overview": None if overview is None else asdict(overview),
    }
    return JobResult(
        exit_code=exit_codes.FAILURES if problems else exit_codes.DONE,
        facts=facts,
        lines=(_summary(name, ingested, overview),),
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
        f"ingest {name}: {documents}; {ingested.embedded} passages embedded; "
        f"{overview.topics} topics ({overview.added} new, {overview.retired} retired)"
    )


def _print(result: JobResult, *, dry_run: bool, as_json: bool, seconds: float) -> None:
    problems: list[Mapping[str, str]] = result.facts["problems"]
    for problem in problems:
        print_problem(f"{problem['path']}: {problem['problem']}; {problem['remedy']}")
    if as_json:
        print_json(
            job="ingest",
            run_id=result.run_id,
            dry_run=dry_run,
            exit_code=result.exit_code,
            duration_seconds=round(seconds, 3),
            **result.facts,
        )
        return
    for line in result.lines:
        print_line(line)
