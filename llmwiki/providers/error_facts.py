"""What an exception or an answer, of the openai client or over plain HTTP, tells about itself.

Gateways wrap the same facts in many ways: an error object, a list around it (Gemini's compatible
endpoint), JSON inside a string inside JSON (OpenRouter, LiteLLM), or a plain text. Everything is
unwrapped here once, so that decisions read flat facts. Nothing in this module raises.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai
import pydantic

from llmwiki.providers.http_answer import HttpAnswer, member

_DEEPEST = 12
_LONGEST_TEXT = 20_000
_MESSAGE_LENGTH = 300

_CLOCK_PARTS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_CLOCK_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
_ASKED_DELAY = re.compile(
    r"(?:retry|try again|wait)\s+(?:again\s+)?(?:in|after|for)\s+"
    r"((?:\d+(?:\.\d+)?\s*"
    r"(?:milliseconds?|ms|hours?|h|minutes?|min|m|seconds?|secs?|s)(?![a-z])\s*)+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The flat facts of one failed or odd answer."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[tuple[str, str], ...] = ()
    """Every named scalar of the body, whatever it was nested in."""
    text: str = ""
    """All strings of the body, one a line."""

    def values(self, *names: str) -> set[str]:
        """Return the values of the fields of these names."""
        return {value for name, value in self.fields if name in names}

    @property
    def message(self) -> str:
        """What a person should read: the body's message if there is one."""
        messages = [value for name, value in self.fields if name == "message" and value]
        text = messages[0] if messages else self.text
        return one_line(text)

    def delay(self, now: datetime) -> float | None:
        """Seconds that the service asks to wait, from headers first, then from the body."""
        milliseconds = parse_number(self.headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000.0
        found = _parse_retry_after(self.headers.get("retry-after"), now)
        if found is not None:
            return found
        delays = [parse_duration(value) for value in self.values("retryDelay", "retry_after")]
        known = [delay for delay in delays if delay is not None]
        if known:
            return max(known)
        asked = _ASKED_DELAY.search(self.text)
        return _sum_clock_parts(asked[1]) if asked else None


def gather_evidence(outcome: object) -> Evidence:
    """Collect the facts of an exception or of a parsed answer."""
    if isinstance(outcome, openai.APIStatusError):
        headers = {name.lower(): value for name, value in outcome.response.headers.items()}
        return _from_body(outcome.body, status=outcome.status_code, headers=headers)
    if isinstance(outcome, HttpAnswer) and not outcome.succeeded:
        body = outcome.text if outcome.body is None else outcome.body
        return _from_body(body, status=outcome.status, headers=outcome.headers)
    if isinstance(outcome, BaseException):
        return Evidence(text=f"{type(outcome).__name__}: {outcome}"[:_LONGEST_TEXT])
    error = embedded_error(outcome)
    return _from_body(error, status=_embedded_status(error), headers={})


def embedded_error(answer: object) -> object:
    """Return the error that came inside an answer with status 200, or None."""
    if isinstance(answer, HttpAnswer):
        return member(answer.body, "error")
    if not isinstance(answer, pydantic.BaseModel):
        return None
    error = getattr(answer, "error", None)
    choices = getattr(answer, "choices", None)
    if error is None and isinstance(choices, list) and choices:
        error = getattr(choices[0], "error", None)  # OpenRouter, when it failed midway
    return error


def one_line(text: str) -> str:
    """Return the beginning of a foreign text as one line of printable characters."""
    printable = "".join(char if char.isprintable() else " " for char in text[:_LONGEST_TEXT])
    return " ".join(printable.split())[:_MESSAGE_LENGTH]


def parse_number(value: str | None) -> float | None:
    """Read a number that is not negative and not NaN."""
    try:
        number = float(value) if value is not None else -1.0
    except (ValueError, OverflowError):
        return None
    return number if number >= 0.0 else None


def parse_duration(value: str | None) -> float | None:
    """Read seconds from ``12``, ``5s``, ``2m59.5s`` or ``130ms``."""
    number = parse_number(value)
    if number is not None or value is None:
        return number
    compact = value.replace(" ", "")
    return _sum_clock_parts(compact) if _DURATION.fullmatch(compact) else None


def _sum_clock_parts(text: str) -> float:
    short = re.sub("milliseconds?", "ms", text.lower())
    return sum(float(number) * _CLOCK_PARTS[unit] for number, unit in _CLOCK_PART.findall(short))


def _parse_retry_after(value: str | None, now: datetime) -> float | None:
    seconds = parse_duration(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def _from_body(body: object, *, status: int | None, headers: Mapping[str, str]) -> Evidence:
    fields = tuple(_scalars("", body, 0))
    text = "\n".join(value for _, value in fields)[:_LONGEST_TEXT]
    return Evidence(status=status, headers=headers, fields=fields, text=text)


def _scalars(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _scalars(str(key), inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _scalars(name, inner, depth + 1)
    elif isinstance(value, str):
        yield name, value
        yield from _scalars(name, _json_within(value), depth + 1)
    elif isinstance(value, int | float):
        yield name, str(value)


def _json_within(text: str) -> object:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0 or len(text) > _LONGEST_TEXT:
        return None
    try:
        found: object = json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None
    return found


def _embedded_status(body: object) -> int | None:
    code = body.get("code") if isinstance(body, Mapping) else None
    status = parse_number(str(code)) if code is not None else None
    return int(status) if status is not None and 300 <= status < 600 else None
