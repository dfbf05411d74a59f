"""A drain in a process of its own that kills itself where it is told, with SIGKILL.

The boundaries are put around named functions of the product from outside: the product knows
nothing of them.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import SecretStr

from jobs import compile_drain
from jobs.runner import JobOptions, run_job
from llmwiki.bootstrap import App, build
from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.compiler.drain.service import Drain
from llmwiki.config import BudgetSettings, CompileSettings, GeneratorSettings, Settings
from llmwiki.logs import configure_logging
from llmwiki.providers.openai_chat import OpenAIChat
from llmwiki.store import embeddings, page_leases, page_writing, queue, runs
from llmwiki.store.collections import select_collections
from llmwiki.store.ledger import LedgerAttempt, LedgerMeter
from tests.support.wiki import HASHING

When = Literal["before", "after"]

PAGES_PER_CALL = 3

BOUNDARIES: dict[str, tuple[Any, str, When]] = {
    "before the claim": (queue, "claim", "before"),
    "pages claimed, not committed": (queue, "claim", "after"),
    "claim committed": (page_leases, "renew", "before"),
    "lease renewed, not committed": (page_leases, "renew", "after"),
    "before pages that are current again are let go": (page_leases, "clear_stale", "before"),
    "before the reservation": (LedgerMeter, "_take", "before"),
    "unit taken, not committed": (LedgerMeter, "_take", "after"),
    "reservation committed, request not sent": (OpenAIChat, "_send", "before"),
    "answer arrived, nothing done with it": (OpenAIChat, "_send", "after"),
    "before the call is settled": (LedgerAttempt, "settle", "before"),
    "call settled": (LedgerAttempt, "settle", "after"),
    "before a page is finished": (PageFinisher, "finish", "before"),
    "page embedded": (embeddings, "embed_missing", "after"),
    "page's row written, its statements not": (page_writing, "_replace_statements", "before"),
    "statements written, edges not": (page_writing, "_replace_statements", "after"),
    "page written, not committed": (page_writing, "write_page", "after"),
    "record written, page not committed": (PageFinisher, "record", "after"),
    "page committed": (PageFinisher, "finish", "after"),
    "failure counted, not committed": (page_leases, "note_failure", "after"),
    "before leases are given back": (page_leases, "release", "before"),
    "leases given back, not committed": (page_leases, "release", "after"),
    "drain ended, its record not written": (Drain, "run", "after"),
    "before the run is closed": (runs, "finish_run", "before"),
}
"""Every step that a drain takes, by the function at which it is taken."""

IN_FLIGHT = "request received, not answered"
"""The server kills the process whose request it has just counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one process is to do."""

    job: str
    """A name of its own: drains of one name keep each other out by design."""
    database_url: str
    server_url: str
    cap: int
    boundary: str | None
    """Where to die, at the ``occurrence``-th time; None for a drain that runs to its end."""
    occurrence: int = 1


def settings_for(server_url: str, cap: int, api_key: str) -> Settings:
    """Return the settings of a drain that asks the local server."""
    return Settings(
        embedder=HASHING,
        log_level="error",
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server_url,
            api_key=SecretStr(api_key),
            pages_per_call=PAGES_PER_CALL,
            max_attempts=2,
        ),
        budget=BudgetSettings(chat_calls_per_day=cap, chat_calls_per_night=cap),
        compile=CompileSettings(max_attempts=1000),
    )


def work(order: Order) -> None:
    """Drain every collection as the job does, under a job name of its own."""
    key = f"{os.getpid()}-{order.occurrence}" if order.boundary == IN_FLIGHT else "key"
    settings = settings_for(order.server_url, order.cap, key)
    configure_logging(settings)
    with build(settings.model_copy(update={"database_url": order.database_url})) as app:
        if order.boundary in BOUNDARIES:
            _set_trap(order.boundary, order.occurrence)
        _drain(app, order.job)


def _drain(app: App, job: str) -> None:
    with app.engine.connect() as connection:
        collections = select_collections(connection, name=None, owners=None)
    run_job(app, job, JobOptions(collections=collections), compile_drain.run)


def _set_trap(boundary: str, occurrence: int) -> None:
    owner, name, when = BOUNDARIES[boundary]
    original: Callable[..., Any] = getattr(owner, name)
    passed = 0

    def trapped(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - any function's
        nonlocal passed
        passed += 1
        if when == "before" and passed == occurrence:
            _die()
        result = original(*arguments, **named)
        if when == "after" and passed == occurrence:
            _die()
        return result

    setattr(owner, name, trapped)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
