"""From a command line to a job and back to an exit code; shared by the modules and `llmwiki`."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import structlog
import typer
from sqlalchemy.exc import DBAPIError, OperationalError

from jobs import exit_codes
from jobs.runner import Body, JobOptions, JobResult, Terminated, Via, run_job, unwind_on_sigterm
from llmwiki.bootstrap import App, build
from llmwiki.config import load_settings
from llmwiki.errors import LlmwikiError, PageLeasedError, ProviderError, RunLockedError
from llmwiki.logs import configure_logging
from llmwiki.store.collections import select_collections
from llmwiki.store.database_errors import told_by_database

log = structlog.get_logger()

SCHEMA_VERSION = 1
"""Of the JSON that ``--json`` prints; raised when a key changes its meaning or goes."""

CollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Only this collection; otherwise all.")
]
OwnerOption = Annotated[
    str | None, typer.Option("--owner", help="Only this owner's collections; otherwise all.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Tell what would be done: no write, no call.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of lines for people.")
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", min=0, help="Most chat calls of this run, beside the day's caps."),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Let offline drafts replace pages that a model wrote."),
]
ViaOption = Annotated[
    Via,
    typer.Option(
        "--via",
        help="calls: ask and write page by page; batch: send to the provider's Batch API, "
        "and collect what earlier runs sent.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A job as the command line asks for it."""

    collection: str | None = None
    owner: str | None = None
    dry_run: bool = False
    as_json: bool = False
    budget: int | None = None
    force: bool = False
    via: Via = Via.CALLS


def run_and_print(job: str, body: Body, request: JobRequest) -> int:
    """Run the job, print its result on standard output, return the exit code."""

    def work(app: App) -> int:
        started = time.monotonic()
        with app.engine.connect() as connection:
            owners = None if request.owner is None else [request.owner]
            collections = select_collections(connection, name=request.collection, owners=owners)
        options = JobOptions(
            collections=collections,
            dry_run=request.dry_run,
            budget=request.budget,
            force=request.force,
            via=request.via,
        )
        result = run_job(app, job, options, body)
        _print(job, request, result, time.monotonic() - started)
        return result.exit_code

    return guarded(work)


def free_command(job: str, body: Body, description: str) -> Callable[..., None]:
    """Return the command line of a job that costs no call."""

    def command(
        *,
        collection: CollectionOption = None,
        owner: OwnerOption = None,
        dry_run: DryRunOption = False,
        as_json: JsonOption = False,
    ) -> None:
        request = JobRequest(collection=collection, owner=owner, dry_run=dry_run, as_json=as_json)
        raise typer.Exit(run_and_print(job, body, request))

    command.__doc__ = description
    return command


def budgeted_command(job: str, body: Body, description: str) -> Callable[..., None]:
    """Return the command line of a job that may spend calls."""

    def command(  # noqa: PLR0913 - the options of a command line
        *,
        collection: CollectionOption = None,
        owner: OwnerOption = None,
        budget: BudgetOption = None,
        force: ForceOption = False,
        via: ViaOption = Via.CALLS,
        dry_run: DryRunOption = False,
        as_json: JsonOption = False,
    ) -> None:
        request = JobRequest(
            collection=collection,
            owner=owner,
            budget=budget,
            force=force,
            via=via,
            dry_run=dry_run,
            as_json=as_json,
        )
        raise typer.Exit(run_and_print(job, body, request))

    command.__doc__ = description
    return command


def guarded(work: Callable[[App], int], *, check_schema: bool = True) -> int:
    """Build the program, do the work, and return the exit code for whatever happens.

    Errors of ours are told in one line on standard error; any other is logged with its stack.
    """
    unwind_on_sigterm()
    _replace_closed_streams()
    try:
        settings = load_settings()
        configure_logging(settings)
        with build(settings, check_schema=check_schema) as app:
            return work(app)
    except LlmwikiError as error:
        print(f"llmwiki: {error}", file=sys.stderr)  # noqa: T201 - the user's line, not a log
        return _code_for(error)
    except Terminated:
        return exit_codes.TERMINATED
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except DBAPIError as error:
        log.debug("database_error", exc_info=error)
        print(f"llmwiki: {_database_problem(error)}", file=sys.stderr)  # noqa: T201 - as above
        return exit_codes.ERROR
    except Exception:
        log.exception("internal_error")
        return exit_codes.ERROR


def _replace_closed_streams() -> None:
    """Write to nowhere what a shell has closed (`2>&-`); else it would land among the results."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good
            setattr(sys, name, nowhere)


def _database_problem(error: DBAPIError) -> str:
    """Tell in one line what the database said; the statement and its values stay out of it."""
    said = told_by_database(error)
    if error.connection_invalidated or isinstance(error, OperationalError):
        return (
            f"the database ended the connection ({said}); what was written is whole: run it again"
        )
    return f"the database refused a statement ({said}); see `llmwiki doctor`"


def _code_for(error: LlmwikiError) -> int:
    if isinstance(error, RunLockedError | PageLeasedError):
        return exit_codes.LOCKED
    if isinstance(error, ProviderError):
        return exit_codes.STOPPED_EARLY
    return exit_codes.ERROR


def _print(job: str, request: JobRequest, result: JobResult, seconds: float) -> None:
    if request.as_json:
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "job": job,
            "run_id": result.run_id,
            "dry_run": request.dry_run,
            "exit_code": result.exit_code,
            "duration_seconds": round(seconds, 3),
            **result.facts,
        }
        print(json.dumps(document, ensure_ascii=False, default=str))  # noqa: T201 - the result
        return
    for line in result.lines:
        print(line)  # noqa: T201 - the result
