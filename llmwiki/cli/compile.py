"""`llmwiki compile`: writes one page anew, at once, whether its sources moved or not."""

import time

from jobs import compile_drain
from jobs.entry import BudgetOption, ForceOption, JsonOption
from jobs.runner import JobContext, JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.cli.job_result import print_result
from llmwiki.cli.output import run
from llmwiki.cli.page import SlugArgument
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.errors import UsageError
from llmwiki.store import queue
from llmwiki.store.pages import PageRow, find_page


def command(
    slug: SlugArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    budget: BudgetOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write one page anew, at once; where the call fails it stays queued for the night."""

    def work(app: App) -> int:
        started = time.monotonic()
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            page = find_page(connection, chosen, slug)
        _refuse(app, page, force=force)
        options = JobOptions(collections=(chosen,), budget=budget, force=force, page=page.id)

        def body(context: JobContext) -> JobResult:
            with app.engine.connect() as connection:
                queue.request(connection, page.id)
                connection.commit()
            return compile_drain.run(context)

        result = run_job(app, f"compile:{page.id}", options, body)
        print_result("compile", result, started=started, as_json=as_json, page=slug)
        return result.exit_code

    run(work)


def _refuse(app: App, page: PageRow, *, force: bool) -> None:
    if page.kind != "page":
        raise UsageError(
            f"{page.slug} is derived from the folders; run `llmwiki ingest` to renew it"
        )
    if page.retired_at is not None:
        raise UsageError(f"{page.slug} is retired: its sources are gone")
    offline = app.generator.identity.kind == "extractive"
    if offline and page.generator_kind == "model" and not force:
        raise UsageError(
            f"{page.slug} was written by {page.generator}, but no model is configured now; "
            "configure it, or pass --force to replace the page by a draft"
        )
