"""Finds the pages in the text of an answer, whatever stands around them or is cut off.

The text is data: it is scanned and decoded as JSON, one page at a time, so that the pages that
arrived whole survive a page that did not.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST_ANSWER = 2_000_000
"""Characters that are read; the rest counts as cut off."""
_MOST_PAGES = 200
"""More than any request asks for; the rest of such an answer is not worth reading."""
_MOST_STARTS = 20
_LONGEST_INTEGER = 15

_ARRAY_START = re.compile(r'"pages"\s*:\s*\[')
_PAGE_START = re.compile(r'\{\s*"topic"\s*:')
_TOPIC = re.compile(r'\{\s*"topic"\s*:\s*"([^"\\]{1,20})"')
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedAnswer:
    """The pages of an answer as JSON values."""

    pages: tuple[Any, ...]
    broken: tuple[str, ...]
    """Topic labels, as written, of pages in the middle that are no JSON."""
    cut_off: bool
    """The text ended before the list of pages did."""


@dataclass(frozen=True, slots=True)
class _Broken:
    topic: str


class _CutOff:
    """The text ended before the list of pages did."""


def scan_answer(text: str) -> ScannedAnswer | None:
    """Return the pages, or None when the text holds no list of pages at all.

    Where there are several lists, as in a model that thinks aloud first, the last one that holds
    a page counts. Pages outside of a list are accepted too.
    """
    text = text[:LONGEST_ANSWER]
    best: ScannedAnswer | None = None
    for start in _starts(text):
        found = _scan(text, start)
        if best is None or found.pages or found.broken:
            best = found
    return best


def _starts(text: str) -> list[int]:
    """Return where lists of pages start; inside of a text the quotes would be escaped."""
    starts = [match.end() for match in _ARRAY_START.finditer(text)][-_MOST_STARTS:]
    if starts:
        return starts
    bare = _PAGE_START.search(text)
    return [bare.start()] if bare else []


def _scan(text: str, start: int) -> ScannedAnswer:
    elements = list(_elements(text, start))
    return ScannedAnswer(
        pages=tuple(each for each in elements if not isinstance(each, _Broken | _CutOff)),
        broken=tuple(each.topic for each in elements if isinstance(each, _Broken)),
        cut_off=bool(elements) and isinstance(elements[-1], _CutOff),
    )


def _elements(text: str, position: int) -> Iterator[Any]:
    """Yield each page; after one that is no JSON, go on where the next one starts."""
    listed = text[position - 1 : position] == "["
    for _ in range(_MOST_PAGES):
        position = _skip(text, position)
        if text[position : position + 1] in {"]", "}"}:
            return
        try:
            page, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            following = _PAGE_START.search(text, position + 1)
            if following is None:
                if listed or text.startswith("{", position):
                    yield _CutOff()
                return
            yield _Broken(_topic_at(text, position))
            position = following.start()
        else:
            yield page
    yield _CutOff()


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _topic_at(text: str, position: int) -> str:
    match = _TOPIC.match(text, position)
    return match[1] if match else ""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """Return None for an object with a key twice: which of the two is meant is a guess."""
    members = dict(pairs)
    return members if len(members) == len(pairs) else None


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else None


def _no_value(constant: str) -> None:
    """Read NaN and the infinities, which are no JSON, as no value."""
    del constant


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_of,
    parse_int=_integer,
    parse_constant=_no_value,
    # Line breaks inside of strings are a common slip and leave no doubt.
    strict=False,
)
