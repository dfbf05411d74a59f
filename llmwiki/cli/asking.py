"""What the commands that take a question share: options, the trace, and how they run."""

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from jobs import exit_codes
from llmwiki.bootstrap import App
from llmwiki.cli.output import print_json, printable, run
from llmwiki.retrieval.events import Event, Trace

Found = TypeVar("Found")

QuestionArgument = Annotated[str, typer.Argument(help="What to look for, in your own words.")]
TraceOption = Annotated[
    bool,
    typer.Option("--trace", help="Tell every step on standard error: what ran, what it cost."),
]


class WikiChoice(StrEnum):
    """Whether pages of the wiki stand beside the chunks."""

    GATE = "gate"
    ON = "on"
    OFF = "off"


WikiOption = Annotated[
    WikiChoice,
    typer.Option(
        "--wiki", help="gate: as its gate says (see `promote`); on: all the same; off: never."
    ),
]


def open_trace(app: App, *, shown: bool) -> Trace:
    """Return a trace that tells its events on standard error where that is wanted."""
    return Trace(app.clock, print_event) if shown else Trace(app.clock)


def run_question(
    find: Callable[[App, Trace], Found],
    show: Callable[[Found], None],
    facts: Callable[[Found], dict[str, Any]],
    *,
    trace: bool,
    as_json: bool,
) -> NoReturn:
    """Find what a question asks for, and print it for people or as JSON, whose trace is in it."""

    def work(app: App) -> int:
        found = find(app, open_trace(app, shown=trace and not as_json))
        if as_json:
            print_json(**facts(found))
        else:
            show(found)
        return exit_codes.DONE

    run(work)


def print_event(event: Event) -> None:
    """Tell the end of a step in one line on standard error."""
    if event.status != "active":
        print(printable(event_line(event)), file=sys.stderr)  # noqa: T201 - the user's line


def event_line(event: Event) -> str:
    """Return an event as one line."""
    facts = event.facts()
    told = " ".join(
        f"{name}={_fact(value)}"
        for name, value in facts.get("detail", {}).items()
        if name != "kind" and value not in (None, (), [], "")
    )
    spent = " ".join(f"{name}={amount}" for name, amount in facts.get("usage", {}).items())
    why = ": ".join(filter(None, (event.reason or event.error, event.message)))
    parts = (f"{event.duration_ms or 0:.1f} ms", told, spent, why)
    return f"{event.step:<12} {event.status:<8} " + "; ".join(filter(None, parts))


def _fact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_fact, value))
    if isinstance(value, dict):
        # What it is about, and the first thing that is said of it.
        return ":".join(map(_fact, list(value.values())[:2]))
    return f"{value:.3f}" if isinstance(value, float) else str(value)
