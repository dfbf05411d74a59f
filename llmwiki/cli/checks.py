"""What `llmwiki doctor` looks at; each check is of its own and none of them calls a service."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from sqlalchemy import Engine

from jobs import exit_codes, nightly
from jobs.runner import LEASE
from jobs.schedule import parse_schedule
from llmwiki.bootstrap import opening
from llmwiki.cli.output import moment, span
from llmwiki.config import BudgetSettings, Settings
from llmwiki.domain import BudgetState, Collection
from llmwiki.errors import BudgetExhaustedError
from llmwiki.ports import CallAttempt, CallPurpose
from llmwiki.providers.clock import SystemClock
from llmwiki.store import ledger, migrations, run_status
from llmwiki.store.engine import parse_url, require_pgvector, text_settings
from llmwiki.store.ledger import BudgetLimits
from llmwiki.store.run_status import RunStatus

State = Literal["ok", "warn", "fail"]

OLDEST_NIGHT = timedelta(hours=26)
_SECRET_PARAMETERS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was looked at, how it stands, and what to do where it does not stand well."""

    name: str
    state: State
    detail: str
    remedy: str = ""


class _NoCalls:
    """A ledger that refuses every call, so that a diagnosis can cost nothing."""

    def attempt(
        self, budget: str, purpose: CallPurpose, *, subject: str = ""
    ) -> AbstractContextManager[CallAttempt]:
        """Refuse."""
        del budget, purpose, subject
        raise BudgetExhaustedError("doctor makes no call")


def check_server(engine: Engine) -> Iterator[Check]:
    """Check the versions of PostgreSQL and pgvector."""
    facts = require_pgvector(engine)
    installed = facts.pgvector or f"{facts.pgvector_available}, created by `llmwiki migrate`"
    yield Check(
        name="server", state="ok", detail=f"PostgreSQL {facts.postgresql}, pgvector {installed}"
    )


def check_schema(engine: Engine) -> Iterator[Check]:
    """Check that the schema is the one of this release."""
    migrations.require_current_schema(engine)
    yield Check(name="schema", state="ok", detail=f"revision {migrations.head_revision()}")


def check_text(engine: Engine) -> Iterator[Check]:
    """Check that the database can tell the letters of all languages."""
    with engine.connect() as connection:
        encoding, locale = text_settings(connection)
    remedy = "create the database anew: TEMPLATE template0 ENCODING 'UTF8' LC_CTYPE 'C.UTF-8'"
    detail = f"encoding {encoding}, LC_CTYPE {locale}"
    if encoding != "UTF8":
        yield Check(name="text", state="fail", detail=detail, remedy=remedy)
    elif locale in ("C", "POSIX"):
        problem = f"{detail}: full-text search splits words with letters beyond ASCII wrongly"
        yield Check(name="text", state="warn", detail=problem, remedy=remedy)
    else:
        yield Check(name="text", state="ok", detail=detail)


def check_embedder(settings: Settings) -> Iterator[Check]:
    """Open the embedder; one that is offline embeds a word, a service is not called."""
    embedder = opening.open_embedder(settings, _NoCalls(), SystemClock())
    if settings.embedder.provider == "openai":
        address = settings.embedder.base_url or "the provider's own address"
        detail = f"openai:{settings.embedder.model} at {address} (not called)"
    else:
        dimension = embedder.embed(["diagnosis"]).shape[1]
        detail = f"{embedder.identity.name}, {dimension} dimensions, offline"
    yield Check(name="embedder", state="ok", detail=detail)


def check_generator(settings: Settings) -> Iterator[Check]:
    """Open the generator; a service is not called."""
    generator = opening.open_generator(settings, _NoCalls(), SystemClock()).identity
    detail = (
        "extractive: drafts of verbatim sentences, which cost no call"
        if generator.kind == "extractive"
        else f"{generator.name} (not called)"
    )
    yield Check(name="generator", state="ok", detail=detail)


def check_reranker(settings: Settings) -> Iterator[Check]:
    """Open the reranker, which scores a pair if it is offline; a service is not called."""
    chosen = settings.rerank
    reranker = opening.open_reranker(settings, _NoCalls(), SystemClock())
    if reranker is None:
        detail = "none: the fused order, which costs no call"
    elif reranker.identity.method == "cross-encoder":
        detail = f"{reranker.identity.name}, a cross-encoder, offline"
    else:
        address = chosen.base_url or "the provider's own address"
        detail = f"{reranker.identity.method}:{reranker.identity.name} at {address} (not called)"
    yield Check(name="reranker", state="ok", detail=detail)


def check_budget(settings: BudgetSettings, engine: Engine | None) -> Iterator[Check]:
    """Tell the caps and, where the database can be asked, what is used of them today."""
    limits = BudgetLimits(
        caps={
            "chat": settings.chat_calls_per_day,
            "chat/compile": settings.chat_calls_per_night,
            "embed": settings.embed_calls_per_day,
        },
        time_zone=settings.time_zone,
    )
    if settings.chat_calls_per_night > settings.chat_calls_per_day:
        yield Check(
            name="budget",
            state="warn",
            detail="the night's share of chat calls is larger than the day's cap",
            remedy="lower budget.chat_calls_per_night; what is left by day is the difference",
        )
    if engine is None:
        caps = ", ".join(f"{name} {cap}" for name, cap in limits.caps.items())
        yield Check(name="budget", state="ok", detail=f"{caps} calls a day in {limits.time_zone}")
        return
    with engine.connect() as connection:
        states = [ledger.budget_state(connection, counter, limits) for counter in limits.caps]
    yield Check(name="budget", state="ok", detail=_describe_budget(states, limits.time_zone))


def check_schedule(settings: Settings) -> Iterator[Check]:
    """Read the resident scheduler's crontab line, and warn of the change of clocks."""
    schedule = parse_schedule(settings.schedule.nightly, settings.schedule.time_zone)
    if schedule.warning:
        remedy = "set schedule.time_zone to UTC, or nightly to 04:00 and later"
        yield Check(name="schedule", state="warn", detail=schedule.warning, remedy=remedy)
        return
    following = schedule.next_after(datetime.now(UTC))
    when = "" if following is None else f", next {moment(following.astimezone(UTC))}"
    yield Check(
        name="schedule",
        state="ok",
        detail=f"`{schedule.expression}` in {schedule.zone.key}{when}, for `llmwiki schedule`",
    )


def check_collections(settings: Settings, collections: Sequence[Collection]) -> Iterator[Check]:
    """Compare the embedder of each collection with the configured one."""
    if not collections:
        yield Check(
            name="collections",
            state="warn",
            detail="there is none yet",
            remedy="run `llmwiki ingest PATH --collection NAME`",
        )
        return
    if settings.embedder.provider == "openai":
        configured = f"openai:{settings.embedder.model}"
    else:
        configured = opening.open_embedder(settings, _NoCalls(), SystemClock()).identity.name
    for collection in collections:
        detail = f"{collection.owner}/{collection.name} is embedded with {collection.embedder.name}"
        if collection.embedder.name == configured:
            yield Check(name="collection", state="ok", detail=detail)
        else:
            yield Check(
                name="collection",
                state="fail",
                detail=f"{detail}, and {configured} is configured",
                remedy=f"configure the former, or run `llmwiki reembed --collection "
                f"{collection.name}`",
            )


def check_nightly(engine: Engine) -> Iterator[Check]:
    """Tell when the last night was, and how it ended."""
    with engine.connect() as connection:
        runs = run_status.last_runs(connection, silence=LEASE)
    last = next((run for run in runs if run.job == nightly.JOB), None)
    yield judge_night(last, datetime.now(UTC))


def judge_night(last: RunStatus | None, now: datetime) -> Check:
    """Return how the last night stands at the given time."""
    remedy = "run `llmwiki nightly`, and see crontab.example for every night"
    if last is None:
        return Check(name="nightly", state="warn", detail="it never ran", remedy=remedy)
    age = now - last.started_at
    detail = f"run {last.id} began {moment(last.started_at)}, {span(age)} ago"
    if last.dead:
        broke = f"{detail}, and broke off without an end"
        return Check(name="nightly", state="warn", detail=broke, remedy=remedy)
    if last.exit_code is None:
        return Check(name="nightly", state="ok", detail=f"{detail}, and is running")
    ended = f"{detail}, and ended with exit code {last.exit_code}"
    if last.exit_code != exit_codes.DONE:
        look = "see its log, and `llmwiki status` for the records"
        return Check(name="nightly", state="warn", detail=ended, remedy=look)
    if age > OLDEST_NIGHT:
        return Check(name="nightly", state="warn", detail=ended, remedy=remedy)
    return Check(name="nightly", state="ok", detail=ended)


def shown_url(database_url: str) -> str:
    """Return the URL without its secrets."""
    if database_url.startswith("embedded:"):
        return database_url
    url = parse_url(database_url).difference_update_query(_SECRET_PARAMETERS)
    return url.render_as_string(hide_password=True)


def _describe_budget(states: Sequence[BudgetState], time_zone: str) -> str:
    used = ", ".join(f"{state.name} {state.used} of {state.cap}" for state in states)
    resets = moment(states[0].resets_at)
    return f"{used} calls used on {states[0].day} ({time_zone}); resets {resets}"
