"""What a drain would do: which pages, in which requests, for how many nights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from jobs import exit_codes
from jobs.runner import JobContext, JobResult
from llmwiki.bootstrap import App
from llmwiki.compiler.drain.requests import gather_sources, is_unchanged, plan_requests
from llmwiki.compiler.fingerprint import recipe_hash
from llmwiki.compiler.packs import fit_pack, request_tokens
from llmwiki.domain import TopicSources
from llmwiki.ports import Generator
from llmwiki.store import drift, ledger, queue
from llmwiki.store.queue import QueuedPage, QueueFilter

MOST_LISTED = 20


def pages_for(context: JobContext, generator: Generator, *, drafts: bool) -> QueueFilter:
    """Return which pages of the queue a generator may take."""
    is_model = generator.identity.kind == "model"
    return QueueFilter(
        may_replace_model=is_model or (context.options.force and not drafts),
        outdated_text_only=drafts,
        only=context.options.page,
    )


def waiting_pages(context: JobContext) -> list[QueuedPage]:
    """Return the queue as it is, or as a night's sweep would leave it: that one is rolled back."""
    generator = context.app.generator.identity
    with context.app.engine.connect() as connection:
        if context.options.dry_run and context.after_sweep:
            collections, recipe = context.options.collections, recipe_hash(generator)
            drift.sweep(connection, collections, recipe, generator.kind, write=True)
        return queue.peek(
            connection,
            context.options.collections,
            pages_for(context, context.app.generator, drafts=False),
        )


def calls_tonight(context: JobContext) -> int:
    """Return the chat calls that this run may still spend."""
    app = context.app
    with app.engine.connect() as connection:
        states = [
            ledger.budget_state(connection, counter, app.limits)
            for counter in ("chat", "chat/compile")
        ]
    left = min(state.remaining for state in states)
    return left if context.options.budget is None else min(left, context.options.budget)


def affordable_pages(app: App, waiting: Sequence[QueuedPage], calls: int) -> int:
    """Return how many of the waiting pages so many calls can carry at most."""
    if app.generator.identity.kind == "extractive":
        return len(waiting)
    return min(len(waiting), calls * app.packing.max_pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a drain would do: the pages and their requests in order, and the nights to go."""

    pages: tuple[QueuedPage, ...]
    packs: tuple[tuple[TopicSources, ...], ...]
    """One for each request; none where no service is asked."""
    calls_tonight: int
    calls_per_night: int

    @property
    def nights(self) -> int:
        """Nights to go, tonight included."""
        missing = len(self.packs) - self.calls_tonight
        if missing <= 0:
            return 1 if self.pages else 0
        return 1 + ceil(missing / max(1, self.calls_per_night))


def _forecast(context: JobContext) -> Forecast:
    """Plan the real requests over the real sources, as the drain will if nothing fails."""
    app, waiting = context.app, waiting_pages(context)
    with app.engine.connect() as connection:
        sources = gather_sources(connection, waiting)
    identity = app.generator.identity
    pages = [page for page in waiting if not is_unchanged(page, sources[page.page_id], identity)]
    is_model = identity.kind == "model"
    return Forecast(
        pages=tuple(pages),
        packs=tuple(plan_requests(pages, sources, app.packing, {})) if is_model else (),
        calls_tonight=calls_tonight(context),
        calls_per_night=app.settings.budget.chat_calls_per_night,
    )


def foretell_drain(context: JobContext) -> JobResult:
    """Tell what would be compiled, in which order, in which requests, and for how many nights."""
    forecast = _forecast(context)
    limit = context.app.packing.max_input_tokens
    packs = [
        {
            "pages": len(pack),
            "input_tokens": request_tokens([each.sources for each in fit_pack(pack, limit)]),
        }
        for pack in forecast.packs
    ]
    facts = {
        "would_compile": [
            {"page": page.topic.key, "reasons": list(page.reasons), "tokens": page.tokens}
            for page in forecast.pages
        ],
        "packs": packs,
        "chat_calls_needed": len(packs),
        "chat_calls_tonight": forecast.calls_tonight,
        "nights": forecast.nights,
    }
    return JobResult(exit_code=exit_codes.DONE, facts=facts, lines=_lines(forecast, packs))


def _lines(forecast: Forecast, packs: Sequence[Mapping[str, int]]) -> tuple[str, ...]:
    pages = [
        f"would compile {page.topic.key} ({', '.join(page.reasons)})" for page in forecast.pages
    ]
    calls = [
        f"call {number}: {pack['pages']} pages, {pack['input_tokens']} tokens of input"
        for number, pack in enumerate(packs, start=1)
    ]
    together = (
        f"compile drain: {len(pages)} stale, {len(calls)} chat calls needed, "
        f"{forecast.calls_tonight} free tonight, about {forecast.nights} night(s)"
    )
    return (*_shorten(pages), *_shorten(calls), together)


def _shorten(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_LISTED:
        return lines
    return [*lines[:MOST_LISTED], f"… and {len(lines) - MOST_LISTED} more"]
