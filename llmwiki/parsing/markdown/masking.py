"""Hides code from the rewriting of dialects, and takes comments out on the way."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_NONCHARACTERS = [*range(0xFDD0, 0xFDF0), *range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE)]

_ESCAPE_COMMENT_OR_TICKS = re.compile(
    r"\\.|(?P<ticks>`+)|(?P<comment><!--|\{/\*)|(?P<literal>\{\{[<%]\s*/\*)", re.DOTALL
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_CLOSINGS = {
    "<!--": re.compile(r"-->"),
    "{/*": re.compile(r"\*/\}"),
    "literal": re.compile(r"\*/\s*[%>]\}\}"),
}


class Mask:
    """Replaces chunks of a text by short marks that no dialect knows, and puts them back."""

    def __init__(self, text: str) -> None:
        self._mark = next(chr(code) for code in _NONCHARACTERS if chr(code) not in text)
        self._hidden: list[str] = []
        self.pattern = rf"{self._mark}\d+{self._mark}"
        """Regular expression of one mark."""
        self._find = re.compile(rf"{self._mark}(\d+){self._mark}")

    def hide(self, text: str) -> str:
        """Return the mark that stands for the text."""
        self._hidden.append(text)
        return f"{self._mark}{len(self._hidden) - 1}{self._mark}"

    def reveal(self, text: str) -> str:
        """Return the text with what its marks stand for; a hidden text may hold marks."""
        while self._mark in text:
            text = self._find.sub(lambda match: self._hidden[int(match[1])], text)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    start: int
    end: int
    kept: bool
    """Code and literal shortcodes are kept, comments are not."""


def mask_spans(text: str, mask: Mask) -> str:
    """Hide code spans and escaped shortcodes, and remove comments.

    One scan does the three, since each of them may hold the others' opening.
    """
    parts: list[str] = []
    position = 0
    for span in _find_spans(text):
        parts.append(text[position : span.start])
        if span.kept:
            parts.append(mask.hide(text[span.start : span.end]))
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


def _find_spans(text: str) -> Iterator[_Span]:
    find_ticks = _tick_finder(text)
    unclosed: set[re.Pattern[str]] = set()
    position = 0
    while match := _ESCAPE_COMMENT_OR_TICKS.search(text, position):
        position = match.end()
        end = -1
        if match["ticks"]:
            end = find_ticks(len(match["ticks"]), position)
        elif closing := _CLOSINGS.get(match["comment"] or (match["literal"] and "literal")):
            # What one search does not find, no later one does.
            found = None if closing in unclosed else closing.search(text, position)
            if found is None:
                unclosed.add(closing)
            else:
                end = found.end()
        if end >= 0:
            yield _Span(start=match.start(), end=end, kept=match["comment"] is None)
            position = end
        elif match["comment"]:
            yield _Span(start=match.start(), end=match.end(), kept=False)


def _tick_finder(text: str) -> Callable[[int, int], int]:
    """Return a function that finds where a code span of so many backticks ends, or -1."""
    paragraph_end = 0

    def find(length: int, position: int) -> int:
        nonlocal paragraph_end
        if paragraph_end <= position:
            blank = _BLANK_LINE.search(text, position)
            paragraph_end = blank.start() if blank else len(text)
        closing = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(text, position, paragraph_end)
        return closing.end() if closing else -1

    return find
