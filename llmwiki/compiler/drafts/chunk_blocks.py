"""Splits the text of a chunk back into the blocks that it was joined from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

ChunkBlockKind = Literal["prose", "list", "code", "table"]

_FENCE = re.compile(r"(`{3,}|~{3,})")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+\u2022]|(?P<number>\d{1,9})[.)])[ \t]+\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkBlock:
    """A paragraph, a list, a fenced code block or a table, verbatim."""

    kind: ChunkBlockKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItem:
    """One item of a list with its marker, on one line."""

    text: str
    indent: int
    number: int | None
    """Of an ordered list; None for a bullet."""

    @property
    def content(self) -> str:
        """The text without its marker."""
        return without_marker(self.text)


def split_blocks(text: str) -> tuple[ChunkBlock, ...]:
    """Return the blocks of a chunk in order; nothing but blank lines is lost."""
    return tuple(
        ChunkBlock(kind=_kind(lines), text="\n".join(lines)) for lines in _groups(text.split("\n"))
    )


def split_items(text: str) -> tuple[ListItem, ...]:
    """Return the items of a list; a line without a marker goes on with the item above it."""
    groups: list[list[str]] = []
    for line in text.split("\n"):
        if groups and not _ITEM.match(line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return tuple(_item(lines) for lines in groups)


def without_marker(text: str) -> str:
    """Return the text of a list item without the marker, and any other text as it is."""
    match = _ITEM.match(text)
    return text[match.end() - 1 :] if match else text


def _item(lines: Sequence[str]) -> ListItem:
    match = _ITEM.match(lines[0])
    number = match["number"] if match else None
    return ListItem(
        text=" ".join(" ".join(lines).split()),
        indent=len(match["indent"].expandtabs(4)) if match else 0,
        number=int(number) if number else None,
    )


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each block; only a fenced block holds blank lines."""
    group: list[str] = []
    fence = ""
    for line in lines:
        opening = None if fence or group else _FENCE.match(line)
        if fence:
            group.append(line)
            if _closes(line, fence):
                yield group
                group, fence = [], ""
        elif line.strip():
            group.append(line)
            fence = opening[1] if opening else ""
        elif group:
            yield group
            group = []
    if group:
        yield group


def _closes(line: str, fence: str) -> bool:
    stripped = line.rstrip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def _kind(lines: Sequence[str]) -> ChunkBlockKind:
    if len(lines) > 1 and (fence := _FENCE.match(lines[0])) and _closes(lines[-1], fence[1]):
        return "code"
    if all(line.startswith("|") and line.rstrip().endswith("|") for line in lines):
        return "table"
    if _ITEM.match(lines[0]):
        return "list"
    return "prose"
