"""Runs a job under a run record with a heartbeat, and turns what happens into an exit code."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import FrameType
from typing import Any

import structlog
from sqlalchemy import Engine

from jobs import exit_codes
from llmwiki.bootstrap import App
from llmwiki.domain import Collection, PageId, RunId
from llmwiki.store import runs

log = structlog.get_logger()

LEASE = timedelta(minutes=5)
HEARTBEAT_SECONDS = 30.0


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; unwinds the stack so that leases are given back.

    It is a kind of KeyboardInterrupt because the driver of the database cancels the statement
    that runs for that one alone; after any other the connection stays in the middle of it, and
    whatever is still to be written at the end fails.
    """


class Via(StrEnum):
    """The way to the model: a request and its answer at once, or a batch that comes back later."""

    CALLS = "calls"
    BATCH = "batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What every job can be told."""

    collections: tuple[Collection, ...]
    dry_run: bool = False
    budget: int | None = None
    """Most chat calls that this run may spend; None leaves it to the ledger."""
    force: bool = False
    """Let the offline generator replace pages that a model wrote."""
    via: Via = Via.CALLS
    page: PageId | None = None
    """Compile nothing but this page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What a job did: facts for machines, lines for people, and the exit code."""

    exit_code: int
    facts: Mapping[str, Any]
    lines: tuple[str, ...] = ()
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """What a job's body works with. A dry run has no run id, and so can record nothing."""

    app: App
    options: JobOptions
    run_id: RunId | None
    after_sweep: bool = False
    """For a dry run: foresee the sweep that a night makes before this part."""


Body = Callable[[JobContext], JobResult]


def run_job(app: App, job: str, options: JobOptions, body: Body) -> JobResult:
    """Run a job's body under a run of its own; a dry run leaves no trace.

    Raises RunLockedError when another run of the job is alive, and what the body raises, after
    the run was closed with the exit code for it.
    """
    if options.dry_run:
        return body(JobContext(app=app, options=options, run_id=None))
    with _run(app.engine, job, options) as run:
        app.work_for(run.id, chat_calls=options.budget)
        result = body(JobContext(app=app, options=options, run_id=run.id))
        run.exit_code = result.exit_code
        return JobResult(
            exit_code=result.exit_code, facts=result.facts, lines=result.lines, run_id=run.id
        )


@dataclass(slots=True)
class _Run:
    id: RunId
    exit_code: int = field(default=exit_codes.ERROR)


@contextmanager
def _run(engine: Engine, job: str, options: JobOptions) -> Iterator[_Run]:
    arguments = {
        "collections": [collection.name for collection in options.collections],
        "budget": options.budget,
        "force": options.force,
        "via": options.via,
    }
    with engine.connect() as connection:
        run = _Run(runs.start_run(connection, job, arguments, lease=LEASE))
        connection.commit()
    # From here on the run is open: whatever comes, a closed log among it, it has to be ended.
    try:
        log.info("job.started", job=job, run_id=run.id)
        with _heartbeat(engine, run.id):
            yield run
    except Terminated:
        run.exit_code = exit_codes.TERMINATED
        raise
    except KeyboardInterrupt:
        run.exit_code = exit_codes.INTERRUPTED
        raise
    finally:
        with engine.connect() as connection:
            runs.finish_run(connection, run.id, run.exit_code)
            connection.commit()
        log.info("job.finished", job=job, run_id=run.id, exit_code=run.exit_code)


@contextmanager
def _heartbeat(engine: Engine, run_id: RunId) -> Iterator[None]:
    stop = threading.Event()
    beating = threading.Thread(target=_beat, args=(engine, run_id, stop), daemon=True)
    beating.start()
    try:
        yield
    finally:
        stop.set()
        beating.join()


def _beat(engine: Engine, run_id: RunId, stop: threading.Event) -> None:
    """Keep the run's heartbeat going; a failed beat is logged and the next one tried."""
    while not stop.wait(HEARTBEAT_SECONDS):
        try:
            with engine.connect() as connection:
                runs.heartbeat(connection, run_id, lease=LEASE)
                connection.commit()
        except Exception as error:  # noqa: BLE001 - whatever it is, the job itself goes on
            log.warning("job.heartbeat_failed", run_id=run_id, error=str(error))


def unwind_on_sigterm() -> None:
    """Make SIGTERM unwind the stack like Ctrl-C, instead of ending the process on the spot."""

    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
