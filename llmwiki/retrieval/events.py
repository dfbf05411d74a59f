"""The steps of a retrieval as typed events: what ran, by which method, what it cost, and why not.

A blank stage would be a lie. So each step says that it is active, and ends as done, as skipped
with its reason, or as failed with its error; a step that failed is followed by the others.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from llmwiki.domain import Usage
from llmwiki.errors import LlmwikiError
from llmwiki.ports import Clock

Step = Literal[
    "route",
    "anchor",
    "step-back",
    "embed",
    "dense",
    "lexical",
    "identifiers",
    "pages",
    "feedback",
    "fuse",
    "titles",
    "rerank",
    "families",
    "rescue",
    "reserve",
    "grade",
    "restore",
    "evidence",
    "context",
    "answer",
]

Status = Literal["active", "done", "skipped", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a step says of itself; each step has a class of its own with a ``kind``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One moment of one step."""

    step: Step
    status: Status
    at_ms: float
    """Since the question arrived."""
    duration_ms: float | None = None
    """Of the step; None while it is active."""
    detail: Detail | None = None
    reason: str | None = None
    """Why the step was skipped: a word for programs, as ``quota`` or ``narrow``."""
    message: str | None = None
    """The reason or the error in a sentence."""
    error: str | None = None
    """The class of the error."""
    usage: Usage = field(default_factory=Usage)

    def facts(self) -> dict[str, Any]:
        """Return the event as JSON values, without what is empty."""
        facts = {
            name: value
            for name, value in asdict(self).items()
            if value is not None and name != "usage"
        }
        spent = {name: amount for name, amount in asdict(self.usage).items() if amount}
        return facts | ({"usage": spent} if spent else {})


Listener = Callable[[Event], None]


def nobody(_event: Event) -> None:
    """Listen to nothing."""


@dataclass(slots=True)
class OpenStep:
    """A step that runs; it ends once, as done, skipped or failed."""

    status: Status = "active"
    ending: Mapping[str, Any] = field(default_factory=dict)

    def done(self, detail: Detail | None = None, *, usage: Usage | None = None) -> None:
        """End it well."""
        self._end("done", detail=detail, usage=usage or Usage())

    def skip(
        self, reason: str, message: str | None = None, *, detail: Detail | None = None
    ) -> None:
        """End it without having run."""
        self._end("skipped", reason=reason, message=message, detail=detail)

    def fail(
        self, error: BaseException, *, detail: Detail | None = None, usage: Usage | None = None
    ) -> None:
        """End it with an error that the retrieval survives; ``detail`` tells what stands in."""
        self._end(
            "error",
            error=type(error).__name__,
            message=str(error),
            detail=detail,
            usage=usage or Usage(),
        )

    def _end(self, status: Status, **ending: Any) -> None:  # noqa: ANN401 - fields of Event
        if self.status != "active":
            message = f"the step ended as {self.status} already"
            raise RuntimeError(message)
        self.status = status
        self.ending = ending


class Trace:
    """Collects the events of one question, and tells them to a listener as they happen."""

    def __init__(self, clock: Clock, listener: Listener = nobody) -> None:
        self._clock = clock
        self._listener = listener
        self._start = clock.monotonic()
        self._events: list[Event] = []

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, in order."""
        return tuple(self._events)

    @property
    def usage(self) -> Usage:
        """What all steps spent."""
        return sum((event.usage for event in self._events), start=Usage())

    @contextmanager
    def step(self, name: Step) -> Iterator[OpenStep]:
        """Run a step. An error that leaves the block is told, and raised on."""
        began = self._elapsed()
        self._tell(Event(step=name, status="active", at_ms=began))
        opened = OpenStep()
        try:
            yield opened
            if opened.status == "active":
                opened.done()
        except LlmwikiError as error:
            if opened.status == "active":
                opened.fail(error)
            raise
        finally:
            if opened.status != "active":
                ended = self._elapsed()
                self._tell(
                    Event(
                        step=name,
                        status=opened.status,
                        at_ms=ended,
                        duration_ms=round(ended - began, 3),
                        **opened.ending,
                    )
                )

    def _elapsed(self) -> float:
        return round((self._clock.monotonic() - self._start) * 1000, 3)

    def _tell(self, event: Event) -> None:
        self._events.append(event)
        self._listener(event)
