"""Parses plain text: paragraphs between blank lines, headings where they are underlined."""

import re

from llmwiki.parsing.gfm import fence_for
from llmwiki.parsing.outline import Outline
from llmwiki.parsing.parsed import Block, ParsedDocument

_UNDERLINE = re.compile(r"(=|-|~)\1{2,}[ \t]*$")
_LEVELS = {"=": 1, "-": 2, "~": 3}
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+\S")
_INDENTED = re.compile(r" {4}|\t")


def parse_plain(path: str, text: str) -> ParsedDocument:
    """Return the paragraphs of a text file in the sections of its underlined headings."""
    unix_text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    outline = Outline()
    for lines in _paragraphs(unix_text):
        rest = lines
        if len(lines) > 1 and _is_heading(lines[0], lines[1]):
            outline.add_heading(_LEVELS[lines[1][0]], " ".join(lines[0].split()))
            rest = lines[2:]
        if rest:
            outline.add_block(_block(rest))
    return ParsedDocument(title=outline.title(None, path), sections=outline.sections())


def _paragraphs(text: str) -> list[list[str]]:
    paragraphs: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return [lines for lines in paragraphs if lines]


def _is_heading(line: str, underline: str) -> bool:
    """Tell whether the second line underlines the first, about as long as it is wide.

    A character of East Asia is as wide as two marks.
    """
    if not _UNDERLINE.match(underline) or _UNDERLINE.match(line):
        return False
    length = len(line.strip())
    return length - 2 <= len(underline) <= 2 * length + 2


def _block(lines: list[str]) -> Block:
    if all(_INDENTED.match(line) for line in lines):
        fence = fence_for("\n".join(lines))
        return Block(kind="code", text="\n".join([fence, *lines, fence]))
    if _ITEM.match(lines[0]):
        return Block(kind="list", text="\n".join(_items(lines)))
    return Block(kind="paragraph", text=" ".join(" ".join(lines).split()))


def _items(lines: list[str]) -> list[str]:
    """Return one line an item: a line without a marker goes on with the one above."""
    groups: list[list[str]] = []
    for line in lines:
        if _ITEM.match(line):
            groups.append([line])
        else:
            groups[-1].append(line.strip())
    return [" ".join(group) for group in groups]
