"""Finds in prose what Markdown reads as more than a paragraph or a list."""

import re
from collections.abc import Iterator, Sequence

from llmwiki.grounding.evidence import ChunkFacts, is_mentioned, squeeze
from llmwiki.text.code_spans import without_code_spans

_ITEM = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+(?=\S)")
_BLOCK = re.compile(
    r"[ \t]*(?:"
    r"`{3}|~{3}"  # a fence
    r"|#{1,6}(?:[ \t]|$)"  # a heading
    r"|>"  # a quotation
    r"|\|.*\|[ \t]*$"  # a row of a table
    r"|(?=[^\n]*-)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*$"  # its rule, setext
    r"|=+[ \t]*$|\+{3}[ \t]*$"  # setext, front matter
    r"|(?:\*[ \t]*){3,}+$|(?:_[ \t]*){3,}+$|(?:-[ \t]*){3,}+$"  # a thematic break
    r"|\[(?:[^\[\]\\]|\\.)+\]:"  # a definition
    r")"
)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_FOOTNOTE = re.compile(r"\\.|(\^\[|\[\^[^\]\n]{0,100}\]?)", re.DOTALL)
_INVISIBLE = re.compile(r"[\xad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")


def without_invisible(text: str) -> str:
    """Return the text without characters of no width."""
    return _INVISIBLE.sub("", text)


def block_markup(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find the beginning of a block, a definition, or a footnote that no chunk has."""
    first = next(_blocks(text), None)
    if first is not None:
        return first[1]
    for match in _FOOTNOTE.finditer(without_code_spans(text)):
        if match[1] and not is_mentioned(match[1], cited):
            return match[1]
    return None


def moved_block(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a line of a verbatim text that begins a block, and did not where it was taken from.

    White space means nothing to the comparison with the chunks, but a line break before
    ``---`` makes a heading of what stands above.
    """
    for number, line in _blocks(text):
        wanted = squeeze(line)
        if number and not any(
            known.startswith(wanted) for chunk in cited for known in chunk.body_lines
        ):
            return line
    return None


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that begin a block, with their numbers."""
    blank = True
    for number, line in enumerate(text.split("\n")):
        content = line
        while item := _ITEM.match(content):
            if _BLOCK.match(content):
                break  # "- - -" is no list.
            content = content[item.end() :]
        if _BLOCK.match(content) or (blank and _INDENTED.match(line)):
            yield number, line.strip()
        blank = not line.strip()
