"""Cuts a block that exceeds a chunk, at the best places it has. Nothing is ever dropped."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import assert_never

from llmwiki.parsing.parsed import Block
from llmwiki.text.tokens import count_tokens

TOLERANCE = 1.5
"""How many times the target a whole block may reach before it is cut."""

_CLOSING = "\"')\\]\u201d\u2019\u300d\u300f\uff09"
"""Quotation marks and brackets that end with the sentence that they hold."""
_SENTENCE_END = re.compile(
    # The look-behinds have one search in a run of marks, not one at each of them.
    rf"(?<![.!?\u2026])[.!?\u2026]++[{_CLOSING}]*+\s++"
    rf"|(?<![\u3002\uff01\uff1f])[\u3002\uff01\uff1f]++[{_CLOSING}]*+\s*+"
)
_WORD = re.compile(r"\S+\s*|\s+")
_CHARACTERS_AT_ONCE = 7
"""As many as a word may have and count as one token: slices by it do not count in excess."""


def cut_block(block: Block, target: int) -> list[str]:
    """Return the block's text as one piece where it fits, else as several."""
    if count_tokens(block.text) <= target * TOLERANCE:
        return [block.text]
    match block.kind:
        case "paragraph":
            return _cut_prose(block.text, target)
        case "list":
            return _cut_lines(block.text.split("\n"), target)
        case "code":
            return _cut_code(block.text, target)
        case "table":
            return _cut_table(block, target)
        case _:
            assert_never(block.kind)


def _cut_prose(text: str, target: int) -> list[str]:
    pieces = (piece.strip() for piece in _pack(_atoms(text, target), target, ""))
    return [piece for piece in pieces if piece]


def _cut_lines(lines: list[str], target: int) -> list[str]:
    """Pack whole lines, and cut those that exceed a chunk by themselves."""
    parts = (
        [line] if count_tokens(line) <= target else _cut_prose(line, target) or [line]
        for line in lines
    )
    return list(_pack(chain.from_iterable(parts), target, "\n"))


def _cut_code(text: str, target: int) -> list[str]:
    first, *lines, last = text.split("\n")
    room = max(1, target - count_tokens(first) - count_tokens(last))
    return [f"{first}\n{part}\n{last}" for part in _cut_lines(lines, room)]


def _cut_table(block: Block, target: int) -> list[str]:
    header_tokens = count_tokens(block.header)
    # A header that fills half of a chunk is stated once: repeated, it would crowd out rows.
    if not block.header or header_tokens > target / 2:
        return _cut_lines(block.text.split("\n"), target)
    rows = block.text.removeprefix(block.header).removeprefix("\n").split("\n")
    return [f"{block.header}\n{part}" for part in _cut_lines(rows, target - header_tokens)]


def _pack(parts: Iterable[str], target: int, joint: str) -> Iterator[str]:
    """Join consecutive parts up to the target, in time linear in their length."""
    current: list[str] = []
    total = 0
    for part in parts:
        tokens = count_tokens(part)
        if current and total + tokens > target:
            yield joint.join(current)
            current, total = [], 0
        current.append(part)
        total += tokens
    if current:
        yield joint.join(current)


def _atoms(text: str, target: int) -> Iterator[str]:
    """Yield sentences, or words where a sentence exceeds the target, or characters."""
    for sentence in _sentences(text):
        if count_tokens(sentence) <= target:
            yield sentence
            continue
        for word in _WORD.findall(sentence):
            if count_tokens(word) <= target:
                yield word
            else:
                size = max(1, min(_CHARACTERS_AT_ONCE, target))
                yield from (word[start : start + size] for start in range(0, len(word), size))


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]
