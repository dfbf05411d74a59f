"""The compile drain as a job: brings stale pages up to date, oldest first, within the budget.

Where a model is configured the night has two passes. The first gives every page without a
current text a draft, which costs no call; the second upgrades pages by the model, oldest first,
until the budget is spent. Run it as ``python -m jobs.compile_drain`` or ``llmwiki drain``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import typer

from jobs import exit_codes
from jobs.entry import (
    BudgetOption,
    CollectionOption,
    DryRunOption,
    ForceOption,
    JobRequest,
    JsonOption,
    OwnerOption,
    run_and_print,
)
from jobs.runner import JobContext, JobResult
from llmwiki.bootstrap import App
from llmwiki.compiler.drain import Drain, DrainReport
from llmwiki.compiler.finishing import PageFinisher
from llmwiki.compiler.recipe import recipe_hash
from llmwiki.domain import Record, RunId, StoppedReason, Usage
from llmwiki.ports import Generator
from llmwiki.store import drift, ledger, queue, runs
from llmwiki.store.queue import QueueCounts, QueuedPage, QueueFilter

JOB = "compile-drain"
MOST_LISTED = 20


def run(context: JobContext) -> JobResult:
    """Drain the queue; a dry run tells what would be compiled, in which order, at what cost."""
    if context.run_id is None:
        return _foretell(context)
    app, calls = context.app, _calls_tonight(context)
    waiting = _waiting(context)
    reports = [
        _drain(context, context.run_id, generator, drafts=drafts)
        for generator, drafts in _passes(app)
    ]
    with app.engine.connect() as connection:
        counts = queue.count_queue(connection, context.options.collections)
        report = _total(reports)
        payload = _batch_payload(app, report, counts, _affordable(app, waiting, calls))
        runs.add_records(
            connection, context.run_id, [Record(kind="compile-batch", payload=payload)]
        )
        connection.commit()
    return JobResult(exit_code=_exit_code(report), facts=payload, lines=(_sentence(payload),))


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
        finisher=PageFinisher(
            engine=app.engine,
            embedder=app.embedder,
            collections={collection.id: collection for collection in context.options.collections},
            limits=settings.gate,
            run_id=run_id,
            upgrade_follows=drafts,
        ),
        collections=context.options.collections,
        settings=settings,
        packing=app.packing if is_model else None,
        clock=app.clock,
        which=_filter(context, generator, drafts=drafts),
        deadline=(
            None
            if settings.deadline is None
            else app.clock.monotonic() + settings.deadline.total_seconds()
        ),
    )
    return drain.run()


def _filter(context: JobContext, generator: Generator, *, drafts: bool) -> QueueFilter:
    is_model = generator.identity.kind == "model"
    return QueueFilter(
        may_replace_model=is_model or (context.options.force and not drafts),
        outdated_text_only=drafts,
    )


def _waiting(context: JobContext) -> list[QueuedPage]:
    """Return the queue as it is, or as a night's sweep would leave it: that one is rolled back."""
    generator = context.app.generator.identity
    with context.app.engine.connect() as connection:
        if context.options.dry_run and context.after_sweep:
            collections, recipe = context.options.collections, recipe_hash(generator)
            drift.sweep(connection, collections, recipe, generator.kind, write=True)
        return queue.peek(
            connection,
            context.options.collections,
            _filter(context, context.app.generator, drafts=False),
        )


def _calls_tonight(context: JobContext) -> int:
    """Return the chat calls that this run may still spend."""
    app = context.app
    with app.engine.connect() as connection:
        states = [
            ledger.budget_state(connection, counter, app.limits)
            for counter in ("chat", "chat/compile")
        ]
    left = min(state.remaining for state in states)
    return left if context.options.budget is None else min(left, context.options.budget)


def _affordable(app: App, waiting: Sequence[QueuedPage], calls: int) -> int:
    if app.generator.identity.kind == "extractive":
        return len(waiting)
    return min(len(waiting), calls * app.packing.max_pages)


def _total(reports: Sequence[DrainReport]) -> DrainReport:
    """Add up the passes; the last one, which spends the calls, tells why the drain stopped."""
    return DrainReport(
        compiled=sum(report.compiled for report in reports),
        skipped_unchanged=sum(report.skipped_unchanged for report in reports),
        failed=sum(report.failed for report in reports),
        usage=sum((report.usage for report in reports), Usage()),
        stopped_reason=reports[-1].stopped_reason,
    )


def _batch_payload(
    app: App, report: DrainReport, counts: QueueCounts, budgeted: int
) -> dict[str, object]:
    return {
        "budgeted": budgeted,
        "compiled": report.compiled,
        "skipped_unchanged": report.skipped_unchanged,
        "failed": report.failed,
        "remaining_stale": counts.stale,
        "quarantined": counts.quarantined,
        "stopped_reason": report.stopped_reason,
        "generator": app.generator.identity.name,
        "chat_calls": report.usage.chat_calls,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a drain would do: pages in order, calls, and nights until the queue is empty."""

    pages: tuple[QueuedPage, ...]
    calls_needed: int
    calls_tonight: int
    calls_per_night: int

    @property
    def nights(self) -> int:
        """Nights to go, tonight included."""
        missing = self.calls_needed - self.calls_tonight
        if missing <= 0:
            return 1 if self.pages else 0
        return 1 + ceil(missing / max(1, self.calls_per_night))


def _foretell(context: JobContext) -> JobResult:
    app = context.app
    pages = tuple(_waiting(context))
    is_model = app.generator.identity.kind == "model"
    forecast = Forecast(
        pages=pages,
        calls_needed=ceil(len(pages) / app.packing.max_pages) if is_model else 0,
        calls_tonight=_calls_tonight(context),
        calls_per_night=app.settings.budget.chat_calls_per_night,
    )
    listed = [
        {"page": page.topic.key, "reasons": list(page.reasons), "tokens": page.tokens}
        for page in pages
    ]
    facts = {
        "would_compile": listed,
        "chat_calls_needed": forecast.calls_needed,
        "chat_calls_tonight": forecast.calls_tonight,
        "nights": forecast.nights,
    }
    lines = [f"would compile {page.topic.key} ({', '.join(page.reasons)})" for page in pages]
    if len(lines) > MOST_LISTED:
        lines = [*lines[:MOST_LISTED], f"… and {len(lines) - MOST_LISTED} more"]
    lines.append(
        f"compile drain: {len(pages)} stale, {forecast.calls_needed} chat calls needed, "
        f"{forecast.calls_tonight} free tonight, about {forecast.nights} night(s)"
    )
    return JobResult(exit_code=exit_codes.DONE, facts=facts, lines=tuple(lines))


def command(
    *,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    budget: BudgetOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compile stale pages, oldest first, within the budget."""
    request = JobRequest(
        collection=collection,
        owner=owner,
        budget=budget,
        force=force,
        dry_run=dry_run,
        as_json=as_json,
    )
    raise typer.Exit(run_and_print(JOB, run, request))


if __name__ == "__main__":
    typer.run(command)
