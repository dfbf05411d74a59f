"""Makes paragraphs and sections of the lines of pages. Pure functions."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

_RUNNING_PAGES = 3
"""A first or last line on as many pages is a running one."""

_DIGITS = re.compile(r"\d+")
_BROKEN_WORD = re.compile(r"(?P<start>\w*[^\W\d_])[-\u00ad\u2010]$")
_LONGEST_END = 100
"""Characters at the end of a text that its broken word is looked for in."""
_COMPOUND = re.compile(r"(?<!\w)\w++(?:-\w++)+")
_BULLETS = "\u2022\u25e6\u25aa\u2023\u2013\u2014*-"
_ITEM = re.compile(rf"(?:[{_BULLETS}]|\d{{1,3}}[.)]|\([a-z\d]\))\s|--?[A-Za-z]")
_SENTENCE_END = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")
_NUMBERING = re.compile(
    r"(?i:(?:chapter|appendix|section|part)\s+)?(?:\d{1,9}|[A-Z])(?:\.\d{1,9}){0,9}[.:]?\s+"
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """One entry of an outline."""

    level: int
    title: str
    page: int
    """Counted from zero."""


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Take page numbers and what is printed at the edge of page after page off the pages."""
    trimmed = [_strip(page) for page in pages]
    heads = Counter(_running_key(page[0]) for page in trimmed if page)
    feet = Counter(_running_key(page[-1]) for page in trimmed if page)
    return [_without_edges(page, heads, feet) for page in trimmed]


def split_at_bookmarks(
    pages: Sequence[Sequence[str]], bookmarks: Sequence[Bookmark]
) -> Iterator[tuple[Bookmark | None, list[str]]]:
    """Yield the lines under each bookmark, and those before the first one under None.

    A bookmark is where a line of its page says the same; else at the top of the page, or right
    below the bookmark before it.
    """
    current: Bookmark | None = None
    lines: list[str] = []
    for number, page in enumerate(pages):
        start = 0
        for bookmark in bookmarks:
            if bookmark.page != number:
                continue
            heading = _find_heading(page, start, bookmark.title)
            end = start if heading is None else heading
            yield current, [*lines, *page[start:end]]
            current, lines = bookmark, []
            start = end if heading is None else heading + 1
        lines += page[start:]
    yield current, lines


def hyphenated_words(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the compounds that the text writes with a hyphen in the middle of a line."""
    return frozenset(
        word.casefold() for page in pages for line in page for word in _COMPOUND.findall(line)
    )


def paragraphs(lines: Sequence[str], hyphenated: AbstractSet[str]) -> Iterator[str]:
    """Join lines to paragraphs; a blank line, a list item or a short line ends one."""
    full_width = _usual_width(lines)
    paragraph = ""
    for raw_line in [*lines, ""]:
        line = _SPACE.sub(" ", raw_line).strip()
        if paragraph and (not line or _ITEM.match(line)):
            yield paragraph
            paragraph = ""
        paragraph = _join(paragraph, line, hyphenated)
        if line and _ends_paragraph(line, full_width):
            yield paragraph
            paragraph = ""


def _strip(page: Sequence[str]) -> list[str]:
    """Take blank lines off both ends."""
    said = [number for number, line in enumerate(page) if line.strip()]
    return list(page[said[0] : said[-1] + 1]) if said else []


def _running_key(line: str) -> str:
    return _SPACE.sub(" ", _DIGITS.sub("", line)).strip()


def _without_edges(page: list[str], heads: Counter[str], feet: Counter[str]) -> list[str]:
    first = 1 if page and _is_running(page[0], heads) else 0
    last = len(page) - 1 if len(page) > first and _is_running(page[-1], feet) else len(page)
    return page[first:last]


def _is_running(line: str, counts: Counter[str]) -> bool:
    key = _running_key(line)
    if not key:
        return True
    return counts[key] >= _RUNNING_PAGES and any(map(str.isalpha, key))


def _find_heading(page: Sequence[str], start: int, title: str) -> int | None:
    wanted = _spellings(title)
    for number in range(start, len(page)):
        if not wanted.isdisjoint(_spellings(page[number].strip())):
            return number
    return None


def _spellings(heading: str) -> frozenset[str]:
    """Return the letters of a heading with and without its number."""
    unnumbered = _NUMBERING.sub("", heading, count=1)
    spellings = ("".join(filter(str.isalnum, text)).casefold() for text in (heading, unnumbered))
    return frozenset(spelling for spelling in spellings if spelling)


def _usual_width(lines: Sequence[str]) -> int:
    """Return the width that a quarter of the lines reach: that of a full line of prose."""
    widths = sorted(len(line.strip()) for line in lines if line.strip())
    return widths[len(widths) * 3 // 4] if widths else 0


def _ends_paragraph(line: str, full_width: int) -> bool:
    if _broken_word(line):
        return False
    return len(line) * 2 < full_width or (
        len(line) * 10 < full_width * 9 and _SENTENCE_END.search(line) is not None
    )


def _broken_word(text: str) -> re.Match[str] | None:
    return _BROKEN_WORD.search(text, max(0, len(text) - _LONGEST_END))


def _join(text: str, line: str, hyphenated: AbstractSet[str]) -> str:
    """Put a line behind the text, and a word that the line end broke together again."""
    broken = _broken_word(text)
    if not broken or not line[:1].islower():
        return f"{text} {line}".strip()
    rest = re.match(r"\w+", line)
    compound = f"{broken['start']}-{rest[0] if rest else ''}".casefold()
    is_compound = text[-1] != "\u00ad" and compound in hyphenated
    return f"{text[:-1]}{'-' if is_compound else ''}{line}"
