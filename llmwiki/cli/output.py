"""Where the commands write: results on standard output, progress and problems on standard error.

A terminal gets tables and rendered Markdown, a pipe gets plain lines. A pager is never used.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs import exit_codes
from jobs.entry import SCHEMA_VERSION, guarded
from llmwiki.bootstrap import App

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def run(work: Callable[[App], int], *, check_schema: bool = True) -> NoReturn:
    """Do a command's work on the built program, and exit with the code for what happened."""

    def work_into_pipe(app: App) -> int:
        try:
            code = work(app)
            sys.stdout.flush()
        except BrokenPipeError:
            leave_closed_pipe()
            return exit_codes.DONE
        return code

    raise typer.Exit(guarded(work_into_pipe, check_schema=check_schema))


def leave_closed_pipe() -> None:
    """Drop what is still buffered: the reader (`head`, `grep -q`) has seen enough."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def is_terminal() -> bool:
    """Tell whether a person reads standard output as it is written."""
    return sys.stdout.isatty()


class _ResultConsole(Console):
    """Leaves a closed pipe to ``run``, where rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Return a console on standard output as it is now."""
    return _ResultConsole(file=sys.stdout, highlight=False, markup=False, emoji=False)


def print_line(line: str = "") -> None:
    """Print one line of the result."""
    print(printable(line) if is_terminal() else line)  # noqa: T201 - the result


def print_problem(line: str) -> None:
    """Print one line that is not part of the result."""
    print(printable(line), file=sys.stderr)  # noqa: T201 - the user's line, not a log


def print_json(**facts: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print the result as one JSON object."""
    encoding = (sys.stdout.encoding or "ascii").lower()
    print_line(
        json.dumps(
            {"schema_version": SCHEMA_VERSION, **facts},
            ensure_ascii=not encoding.startswith("utf"),
            default=_json_value,
        )
    )


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as a table on a terminal, as lines of cells between tabs into a pipe."""
    if not is_terminal():
        for row in rows:
            print_line("\t".join(_one_line(cell) for cell in row))
        return
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console().print(table)


def printable(text: str) -> str:
    """Return the text without control characters and changes of direction.

    With these a document could drive a terminal, or show a text in another order than it has.
    """
    return _CONTROL.sub("", text)


def moment(value: datetime | None) -> str:
    """Return a time to the minute, in UTC, as people read it."""
    return "never" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def span(value: timedelta) -> str:
    """Return a length of time by its two largest units."""
    seconds = max(0, round(value.total_seconds()))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{number} {unit}" for number, unit in parts if number]
    return " ".join(shown[:2]) or "0 s"


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _json_value(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
