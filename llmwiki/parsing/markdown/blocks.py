"""Reads the tokens of a Markdown document as headings and blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from llmwiki.parsing.gfm import fence_for
from llmwiki.parsing.markdown.inline import render_inline
from llmwiki.parsing.outline import Outline
from llmwiki.parsing.parsed import Block

_LIST_OPENINGS = {"bullet_list_open", "ordered_list_open", "dl_open"}
_LIST_CLOSINGS = {"bullet_list_close", "ordered_list_close", "dl_close"}


@dataclass(slots=True)
class _Item:
    """A list item that is open; its marker is used up by its first line."""

    marker: str
    has_line: bool = False


class BlockReader:
    """Walks the tokens once; lists are flattened to one line an item as they go by."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._outline = Outline()
        self._items: list[_Item] = []
        self._depth = 0
        self._lines: list[str] = []

    def read(self) -> Outline:
        """Return the outline of the whole document."""
        walk = iter(self._tokens)
        for token in walk:
            if token.type == "heading_open" and token.level == 0:
                self._end_list()
                self._outline.add_heading(int(token.tag[1:]), render_inline(_children(next(walk))))
            elif token.type == "table_open":
                self._add_whole(_read_table(walk))
            elif token.type in {"fence", "code_block"}:
                self._add_whole(_code_block(token))
            elif token.type == "inline":
                self._add_text(render_inline(_children(token)))
            else:
                self._track_lists(token)
        self._end_list()
        return self._outline

    def _track_lists(self, token: Token) -> None:
        if token.type in _LIST_OPENINGS:
            self._depth += 1
        elif token.type in _LIST_CLOSINGS:
            self._depth -= 1
            if self._depth == 0:
                self._end_list()
        elif token.type == "list_item_open":
            marker = f"{token.info}{token.markup}" if token.info else "-"
            self._items.append(_Item(marker))
        elif token.type == "dt_open":
            self._items.append(_Item("-"))
        elif token.type in {"list_item_close", "dt_close"}:
            self._items.pop()
        elif token.type == "dd_open":
            # A definition goes on in the line of its term.
            self._items.append(_Item("-", has_line=True))
        elif token.type == "dd_close":
            self._items.pop()

    def _add_text(self, text: str) -> None:
        if not text:
            return
        if not self._items:
            self._outline.add_block(Block(kind="paragraph", text=text))
        elif not self._items[-1].has_line:
            self._items[-1].has_line = True
            self._lines.append(f"{'  ' * (self._depth - 1)}{self._items[-1].marker} {text}")
        elif self._lines:
            self._lines[-1] += f" {text}"
        else:
            # Code or a table stands between this text and its item's line.
            self._outline.add_block(Block(kind="paragraph", text=text))

    def _add_whole(self, block: Block) -> None:
        self._end_list()
        self._outline.add_block(block)

    def _end_list(self) -> None:
        if not self._lines:
            return
        margin = min(len(line) - len(line.lstrip(" ")) for line in self._lines)
        text = "\n".join(line[margin:] for line in self._lines)
        self._lines = []
        self._outline.add_block(Block(kind="list", text=text))


def _children(token: Token) -> list[Token]:
    return token.children or []


def _code_block(token: Token) -> Block:
    fence = fence_for(token.content, token.markup or "```")
    content = token.content.removesuffix("\n")
    if not content.strip():
        return Block(kind="code", text="")
    return Block(kind="code", text=f"{fence}{token.info.strip()}\n{content}\n{fence}")


def _read_table(walk: Iterator[Token]) -> Block:
    rows: list[list[str]] = []
    for token in walk:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(render_inline(_children(token)).replace("|", "\\|"))
        elif token.type == "table_close":
            break
    if not any(any(row) for row in rows):
        return Block(kind="table", text="")
    header = f"{_row(rows[0])}\n{_row(['---'] * len(rows[0]))}"
    return Block(kind="table", text="\n".join([header, *map(_row, rows[1:])]), header=header)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
