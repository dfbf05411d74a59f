"""Finds the code spans of Markdown as CommonMark reads them; the one place that knows how.

A run of backticks closes only at a run of the same length, and a backslash outside of code takes
the first backtick out of a run. A span ends with its block; where it is open to doubt whether a
line begins a block, what only one of the readings takes for code is none.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

_TOKEN = re.compile(r"\\.|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>|`+", re.DOTALL)
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?=\n)")
_BLOCK_START = re.compile(
    r"\n(?=[ \t]*(?:[-+*][ \t\n]|\d{1,9}[.)][ \t]|[>|#]|[-=]+[ \t]*(?:\n|$)|`{3}|~{3}|</?[A-Za-z]))"
)
_RUN = re.compile("`+")


def find_code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each code span begins and ends, its backticks included."""
    if "`" not in text:
        return
    begin = 0
    for end in (*(match.start() for match in _PARAGRAPH_END.finditer(text)), len(text)):
        yield from _in_paragraph(text, begin, end)
        begin = end


def split_code_spans(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, and of each whether it is a code span."""
    position = 0
    for start, end in find_code_spans(text):
        yield text[position:start], False
        yield text[start:end], True
        position = end
    yield text[position:], False


def without_code_spans(text: str) -> str:
    """Return the text with a blank for each code span."""
    return " ".join(part for part, is_code in split_code_spans(text) if not is_code)


def code_contents(text: str) -> list[str]:
    """Return what the code spans hold, without their backticks."""
    return [part.strip("`") for part, is_code in split_code_spans(text) if is_code]


def _in_paragraph(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    starts = [match.start() for match in _BLOCK_START.finditer(text, begin + 1, end)]
    for piece_end in (*starts, end):
        spans, unpaired = _pair(text, begin, piece_end)
        if unpaired is not None and piece_end < end:
            # Were this no end of a block, the run might pair with one further on.
            yield from (span for span in spans if span[1] <= unpaired)
            return
        yield from spans
        begin = piece_end


def _pair(text: str, begin: int, end: int) -> tuple[list[tuple[int, int]], int | None]:
    """Return the spans of one block, and where its first run without a partner is."""
    runs: dict[int, list[int]] = defaultdict(list)
    for run in _RUN.finditer(text, begin, end):
        runs[len(run[0])].append(run.start())
    spans: list[tuple[int, int]] = []
    unpaired: int | None = None
    position = begin
    while match := _TOKEN.search(text, position, end):
        position = match.end()
        if not match[0].startswith("`"):
            continue
        same = runs[len(match[0])]
        after = bisect_right(same, match.start())
        if after < len(same):
            position = same[after] + len(match[0])
            spans.append((match.start(), position))
        elif unpaired is None:
            unpaired = match.start()
    return spans, unpaired
