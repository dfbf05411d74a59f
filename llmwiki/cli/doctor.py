"""`llmwiki doctor`: what is in use, and what is wrong with it.

It does not go through ``guarded`` as other commands do, since it has to work where the
configuration or the database does not.
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from importlib import metadata

import typer
from rich.text import Text
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError, StatementError

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.cli import checks
from llmwiki.cli.checks import Check, State
from llmwiki.cli.output import console, print_json, printable
from llmwiki.config import Settings, config_file, load_settings
from llmwiki.errors import ConfigurationError, LlmwikiError
from llmwiki.logs import configure_logging
from llmwiki.store.collections import select_collections
from llmwiki.store.database_errors import told_by_database
from llmwiki.store.engine import open_database

_STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def command(*, as_json: JsonOption = False) -> None:
    """Check the configuration, the database and the providers; makes no call."""
    found = list(diagnose())
    failed = any(check.state == "fail" for check in found)
    if as_json:
        print_json(ok=not failed, checks=[asdict(check) for check in found])
    else:
        _print(found)
    raise typer.Exit(exit_codes.ERROR if failed else exit_codes.DONE)


def diagnose() -> Iterator[Check]:
    """Yield every check that can be made; what fails keeps only what needs it from being made."""
    yield _release()
    try:
        settings = load_settings()
    except ConfigurationError as error:
        yield Check(name="configuration", state="fail", detail=str(error))
        return
    configure_logging(settings)
    yield _configuration()
    with ExitStack() as stack:
        engine, opened = _open(stack, settings)
        yield opened
        usable = engine
        if engine is not None:
            yield from _attempt("server", lambda: checks.check_server(engine))
            yield from _attempt("text", lambda: checks.check_text(engine))
            schema = list(_attempt("schema", lambda: checks.check_schema(engine)))
            yield from schema
            usable = engine if all(check.state == "ok" for check in schema) else None
        yield from _check_settings(settings, usable)
        if usable is not None:
            yield from _attempt("collections", lambda: _collections(settings, usable))
            yield from _attempt("nightly", lambda: checks.check_nightly(usable))


def _open(stack: ExitStack, settings: Settings) -> tuple[Engine | None, Check]:
    try:
        engine = stack.enter_context(open_database(settings.database_url)).engine
    except LlmwikiError as error:
        return None, Check(name="database", state="fail", detail=str(error))
    shown = checks.shown_url((settings.database_url or "").strip())
    return engine, Check(name="database", state="ok", detail=shown)


def _check_settings(settings: Settings, engine: Engine | None) -> Iterator[Check]:
    """Make the checks that need no database; the budget tells more with one."""
    yield from _attempt("embedder", lambda: checks.check_embedder(settings))
    yield from _attempt("generator", lambda: checks.check_generator(settings))
    yield from _attempt("reranker", lambda: checks.check_reranker(settings))
    yield from _attempt("budget", lambda: checks.check_budget(settings.budget, engine))
    yield from _attempt("schedule", lambda: checks.check_schedule(settings))


def _attempt(name: str, check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Make a check; an error is its result, and the message of ours tells the remedy."""
    try:
        yield from check()
    except (LlmwikiError, SQLAlchemyError, OSError) as error:
        told = told_by_database(error) if isinstance(error, StatementError) else str(error)
        yield Check(name=name, state="fail", detail=told)


def _collections(settings: Settings, engine: Engine) -> Iterator[Check]:
    with engine.connect() as connection:
        collections = select_collections(connection)
    yield from checks.check_collections(settings, collections)


def _release() -> Check:
    try:
        version = metadata.version("llmwiki-compiler")
    except metadata.PackageNotFoundError:
        version = "not installed, running from a checkout"
    detail = f"llmwiki-compiler {version}, Python {platform.python_version()}"
    return Check(name="release", state="ok", detail=detail)


def _configuration() -> Check:
    file = config_file()
    detail = (
        f"{file.resolve()} and the environment"
        if file.is_file()
        else f"the environment and defaults; there is no {file}"
    )
    return Check(name="configuration", state="ok", detail=detail)


def _print(found: Sequence[Check]) -> None:
    screen = console()
    for check in found:
        line = Text(f"{check.state:<4}  ", style=_STYLES[check.state])
        line.append(f"{check.name}: {printable(check.detail)}", style="default")
        if check.remedy:
            line.append(f"\n      → {printable(check.remedy)}", style="default")
        screen.print(line, soft_wrap=True)
