"""`llmwiki reembed`: changes a collection over to the configured embedder."""

import time
from typing import Annotated, Any

import typer

from jobs import exit_codes
from jobs.entry import JsonOption
from jobs.runner import JobContext, JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.cli.job_result import print_result
from llmwiki.cli.output import run
from llmwiki.cli.progress import progress_bar
from llmwiki.cli.selection import OneOwnerOption, select_one
from llmwiki.ingest.reembedding import ReembedReport, reembed_collection

NameOption = Annotated[str, typer.Option("--collection", help="The collection to change over.")]


def command(
    *, collection: NameOption, owner: OneOwnerOption = None, as_json: JsonOption = False
) -> None:
    """Embed a collection anew with the configured embedder, then switch to it at once."""

    def work(app: App) -> int:
        started = time.monotonic()
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
        # The lease of the ingest: the two would write the same vectors in different spaces.
        job = f"ingest:{chosen.owner}/{chosen.name}"

        def body(context: JobContext) -> JobResult:
            with progress_bar("embed") as report:
                done = reembed_collection(
                    context.app.engine,
                    context.app.embedder,
                    chosen,
                    exact_below=context.app.settings.retrieval.exact_below,
                    progress=report,
                )
            return JobResult(
                exit_code=exit_codes.DONE,
                facts=_facts(chosen.name, done),
                lines=(_summary(chosen.name, done),),
            )

        result = run_job(app, job, JobOptions(collections=(chosen,)), body)
        print_result("reembed", result, started=started, as_json=as_json, dry_run=False)
        return result.exit_code

    run(work)


def _facts(name: str, done: ReembedReport) -> dict[str, Any]:
    return {
        "collection": name,
        "embedder_before": done.before.name,
        "embedder": done.now.name,
        "dimension": done.now.dimension,
        "embedded": done.embedded,
        "dropped": done.dropped,
    }


def _summary(name: str, done: ReembedReport) -> str:
    change = (
        f"stays with {done.now.name}"
        if done.before == done.now
        else f"changed over from {done.before.name} to {done.now.name}"
    )
    return f"reembed {name}: {change}; {done.embedded} texts embedded, {done.dropped} vectors gone"
