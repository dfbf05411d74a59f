"""Splits prose into sentences, careful with what documentation is full of.

A full stop ends a sentence only before a blank and a capital, a digit or a mark; never after an
abbreviation, in a code span, an address or a parenthesis. In doubt two sentences stay one: a
long statement can be read, half of one cannot. Every step is linear in the length of the text.
"""

import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

_CLOSING = "\"'*)\\]\u00bb\u201d\u2019\u300d\u300f\u3011\uff09"
"""Quotation marks and brackets that end with the sentence that they hold."""
_FULL_MARKS = "\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965\u1362\u17d4\u104b\u0589"
"""Marks of scripts in which they need no blank after them and serve no abbreviation."""

_BOUNDARY = re.compile(
    # Possessive, and from the first mark of a run only: else a line of dots takes for ever.
    rf"(?<![.!?\u2026])(?P<stop>[.!?\u2026]++)[{_CLOSING}]*+(?=\s)"
    rf"|[{_FULL_MARKS}]+[{_CLOSING}]*"
    r"|\n[^\S\n]*+(?=\n|(?:[-*+\u2022]|\d{1,3}[.)])[^\S\n])"
)
_BACKTICKS = re.compile(r"`+")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_PROTECTED = re.compile(
    rf"(?:https?|ftp)://[^\s<>`{_FULL_MARKS}\u3001\uff0c\uff08\uff09]+"
    r"|\((?!https?:)[^()\n]{0,300}\)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018]+\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*")
_LONGEST_WORD = 40

_ABBREVIATIONS = frozenset(
    {"al", "approx", "ca", "cf", "dr", "eds", "esp", "est", "excl", "incl", "jr", "mr", "mrs", "ms"}
    | {"prof", "resp", "sr", "st", "viz", "vs"}
)
_ABBREVIATIONS_BEFORE_NUMBERS = frozenset(
    {"art", "ch", "chap", "col", "eq", "fig", "figs", "max", "min", "no", "nos", "nr", "p", "para"}
    | {"pp", "ref", "rev", "sec", "sect", "tab", "ver", "vol", "vols"}
)


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences in order, verbatim, without the white space between them.

    Nothing but white space is lost. A blank line or a list marker at the start of a line begins
    a sentence; the marker belongs to the sentence that follows it.
    """
    spans = _protected_spans(text)
    starts = [start for start, _ in spans]
    sentences = []
    begin = 0
    for match in _BOUNDARY.finditer(text):
        if _is_inside(match.start(), spans, starts) or not _ends_sentence(text, begin, match):
            continue
        sentences.append(text[begin : match.end()].strip())
        begin = match.end()
    sentences.append(text[begin:].strip())
    return tuple(sentence for sentence in sentences if sentence)


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    stop = match["stop"]
    if stop is None:
        return True
    following = _first_visible(text, match.end())
    if following.islower():
        return False
    if stop != ".":
        return True
    before = text[max(begin, match.start() - _LONGEST_WORD) : match.start()]
    word = _LAST_WORD.search(before)
    if word is None:
        return True
    if _NUMBER.fullmatch(word[0]):
        return not _stands_first(text, begin, match.start() - len(word[0]))
    return not _is_abbreviation(word[0], following)


def _is_abbreviation(word: str, following: str) -> bool:
    folded = word.casefold()
    if folded in _ABBREVIATIONS_BEFORE_NUMBERS:
        return following.isdigit()
    return folded in _ABBREVIATIONS or _INITIALS.fullmatch(word) is not None


def _first_visible(text: str, position: int) -> str:
    """Return the first letter, digit or mark after white space and opening brackets."""
    while position < len(text) and (text[position].isspace() or text[position] in "([\"'\u201c"):
        position += 1
    return text[position : position + 1]


def _stands_first(text: str, begin: int, position: int) -> bool:
    """Tell whether a number begins its sentence or line, and so is a list marker."""
    while position > begin and text[position - 1] in " \t":
        position -= 1
    return position == begin or text[position - 1] == "\n"


def _is_inside(position: int, spans: Sequence[tuple[int, int]], starts: Sequence[int]) -> bool:
    """Tell whether the mark lies in a span, not counting one that ends with the mark."""
    index = bisect_right(starts, position) - 1
    return index >= 0 and position < spans[index][1]


def _protected_spans(text: str) -> list[tuple[int, int]]:
    """Return spans in which nothing ends, merged where they overlap."""
    spans = sorted([*_code_spans(text), *_addresses_and_parentheses(text)])
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _addresses_and_parentheses(text: str) -> Iterator[tuple[int, int]]:
    for match in _PROTECTED.finditer(text):
        address = match[0]
        length = len(address) if address[0] == "(" else len(address.rstrip(".,;:!?'\")]*"))
        yield match.start(), match.start() + length


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Pair runs of backticks of one length, as CommonMark does, within a paragraph."""
    begin = 0
    for gap in [*(match.end() for match in _PARAGRAPH_END.finditer(text)), len(text)]:
        yield from _code_spans_between(text, begin, gap)
        begin = gap


def _code_spans_between(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    runs = [match.span() for match in _BACKTICKS.finditer(text, begin, end)]
    by_length: dict[int, deque[int]] = defaultdict(deque)
    for start, stop in runs:
        by_length[stop - start].append(start)
    position = begin
    for start, stop in runs:
        closings = by_length[stop - start]
        while closings and closings[0] <= start:
            closings.popleft()
        if start >= position and closings:
            position = closings[0] + stop - start
            yield start, position
