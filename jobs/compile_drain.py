"""The compile drain as a job: brings stale pages up to date, oldest first, within the budget.

Where a model is configured the night has two passes. The first gives every page without a
current text a draft, which costs no call; the second upgrades pages by the model, oldest first,
until the budget is spent. With ``--via batch`` the second pass sends its requests to the
provider's batch service, and collects those of earlier runs. Run it as
``python -m jobs.compile_drain`` or ``llmwiki drain``.
"""

from collections.abc import Sequence

import structlog
import typer

from jobs import exit_codes
from jobs.entry import budgeted_command
from jobs.forecast import affordable_pages, calls_tonight, foretell_drain, pages_for, waiting_pages
from jobs.page_finisher import open_finisher
from jobs.runner import JobContext, JobResult, Via
from llmwiki.bootstrap import App
from llmwiki.compiler.drain.drain_report import DrainReport
from llmwiki.compiler.drain.service import Drain
from llmwiki.domain import Record, RunId, StoppedReason, Usage
from llmwiki.errors import ProviderError
from llmwiki.ports import Generator
from llmwiki.store import collections, embeddings, queue, runs
from llmwiki.store.queue import QueueCounts

log = structlog.get_logger()

JOB = "compile-drain"
MOST_EMBEDDED = 1000


def run(context: JobContext) -> JobResult:
    """Drain the queue; a dry run tells what would be compiled, in which order, at what cost."""
    if context.run_id is None:
        return foretell_drain(context)
    for collection in context.options.collections:
        collections.require_embedder(collection, context.app.embedder.identity)
    budgeted = affordable_pages(context.app, waiting_pages(context), calls_tonight(context))
    if context.options.via is Via.BATCH:
        return _run_by_batch(context, context.run_id, budgeted)
    reports = [
        _drain(context, context.run_id, generator, drafts=drafts)
        for generator, drafts in _passes(context.app)
    ]
    _embed_what_is_missing(context)
    payload = _record(context, context.run_id, _total(reports), {"budgeted": budgeted})
    return JobResult(
        exit_code=_exit_code(_total(reports)), facts=payload, lines=(_sentence(payload),)
    )


def _embed_what_is_missing(context: JobContext) -> None:
    """Renew vectors of pages that went lost, as beside a `reembed`; seldom there are any."""
    app = context.app
    for collection in context.options.collections:
        with app.engine.connect() as connection:
            missing = embeddings.pages_without_vector(
                connection, collection, app.embedder.identity, limit=MOST_EMBEDDED
            )
        try:
            embeddings.embed_missing(app.engine, collection, app.embedder, dict(missing))
        except ProviderError as error:
            log.warning("compile.vectors_missing", pages=len(missing), error=str(error))


def _run_by_batch(context: JobContext, run_id: RunId, budgeted: int) -> JobResult:
    """Collect before anything is claimed, so that no page is asked for a second time."""
    from jobs import compile_batch  # noqa: PLC0415 - its client is slow to import

    app = context.app
    which = pages_for(context, app.generator, drafts=False)
    with compile_batch.open_batch_drain(context, run_id, which) as by_batch:
        by_batch.collect()
        drafts = _drain(context, run_id, app.drafts, drafts=True)
        by_batch.submit(calls=calls_tonight(context))
        report = _total([drafts, by_batch.report()])
        payload = _record(context, run_id, report, {"budgeted": budgeted, **by_batch.facts()})
        lines = by_batch.lines(payload)
        refused = exit_codes.FAILURES if by_batch.errors else exit_codes.DONE
    return JobResult(
        exit_code=exit_codes.worst((_exit_code(report), refused)),
        facts=payload,
        lines=(_sentence(payload), *lines),
    )


def _record(
    context: JobContext, run_id: RunId, report: DrainReport, facts: dict[str, object]
) -> dict[str, object]:
    """Write the record of the run, and return what it says."""
    with context.app.engine.connect() as connection:
        counts = queue.count_queue(connection, context.options.collections)
        payload = _batch_payload(context.app, report, counts) | facts
        runs.add_records(connection, run_id, [Record(kind="compile-batch", payload=payload)])
        connection.commit()
    return payload


def _passes(app: App) -> list[tuple[Generator, bool]]:
    """Return the generators of the night in order, and whether their pages are only drafts."""
    if app.generator.identity.kind == "extractive":
        return [(app.generator, False)]
    return [(app.drafts, True), (app.generator, False)]


def _drain(
    context: JobContext, run_id: RunId, generator: Generator, *, drafts: bool
) -> DrainReport:
    app, settings = context.app, context.app.settings.compile
    is_model = generator.identity.kind == "model"
    drain = Drain(
        engine=app.engine,
        generator=generator,
        finisher=open_finisher(context, run_id, upgrade_follows=drafts),
        collections=context.options.collections,
        settings=settings,
        packing=app.packing if is_model else None,
        clock=app.clock,
        which=pages_for(context, generator, drafts=drafts),
        deadline=(
            None
            if settings.deadline is None
            else app.clock.monotonic() + settings.deadline.total_seconds()
        ),
    )
    return drain.run()


def _total(reports: Sequence[DrainReport]) -> DrainReport:
    """Add up the passes; the last one, which spends the calls, tells why the drain stopped."""
    return DrainReport(
        compiled=sum(report.compiled for report in reports),
        skipped_unchanged=sum(report.skipped_unchanged for report in reports),
        failed=sum(report.failed for report in reports),
        usage=sum((report.usage for report in reports), Usage()),
        stopped_reason=reports[-1].stopped_reason,
    )


def _batch_payload(app: App, report: DrainReport, counts: QueueCounts) -> dict[str, object]:
    return {
        "compiled": report.compiled,
        "skipped_unchanged": report.skipped_unchanged,
        "failed": report.failed,
        "remaining_stale": counts.stale,
        "quarantined": counts.quarantined,
        "stopped_reason": report.stopped_reason,
        "generator": app.generator.identity.name,
        "chat_calls": app.meter.taken.get("chat", 0),
        "embed_calls": report.usage.embed_calls,
    }


def _sentence(payload: dict[str, object]) -> str:
    return (
        f"compile drain: {payload['compiled']} compiled, {payload['skipped_unchanged']} unchanged, "
        f"{payload['failed']} failed, {payload['remaining_stale']} remain stale; "
        f"{payload['chat_calls']} chat calls; stopped: {payload['stopped_reason']}"
    )


def _exit_code(report: DrainReport) -> int:
    early: dict[StoppedReason, int] = {
        "quota": exit_codes.STOPPED_EARLY,
        "outage": exit_codes.STOPPED_EARLY,
        "deadline": exit_codes.STOPPED_EARLY,
    }
    failures = exit_codes.FAILURES if report.failed else exit_codes.DONE
    return exit_codes.worst((failures, early.get(report.stopped_reason, exit_codes.DONE)))


command = budgeted_command(JOB, run, "Compile stale pages, oldest first, within the budget.")

if __name__ == "__main__":
    typer.run(command)
