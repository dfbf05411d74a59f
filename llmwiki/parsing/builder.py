"""Collects headings, paragraphs, list items, code and tables into sections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmwiki.parsing.gfm import code_block, fold, table_block
from llmwiki.parsing.outline import Outline
from llmwiki.parsing.parsed import Block, ParsedDocument


@dataclass(slots=True)
class _Item:
    """One list item that is still open."""

    marker: str
    has_line: bool = False
    at_end: bool = False
    """The last line collected belongs to this item, so that more text continues it."""


class DocumentBuilder:
    """Takes the pieces of a document in reading order, whatever nests them."""

    def __init__(self) -> None:
        self._outline = Outline()
        self._items: list[_Item] = []
        self._lines: list[str] = []

    def heading(self, level: int, text: str) -> None:
        """Begin a section; a heading without text begins none."""
        self._flush_lines()
        self._outline.add_heading(level, fold(text))

    def paragraph(self, text: str) -> None:
        """Add a paragraph, or a part of the item that is open."""
        text = text.strip()
        if not text:
            return
        if self._items:
            self._continue_item(fold(text))
        else:
            self.end_list()
            self._outline.add_block(Block(kind="paragraph", text=text))

    def begin_item(self, marker: str) -> None:
        """Open a list item inside those already open."""
        if self._items:
            self._items[-1].at_end = False
        self._items.append(_Item(marker))

    def end_item(self) -> None:
        """Close the innermost item."""
        self._items.pop()

    def end_list(self) -> None:
        """Close a list; a nested one goes on as lines of the outer one."""
        if not self._items:
            self._flush_lines()

    def code(self, text: str, language: str = "") -> None:
        """Add a code block; it cuts the list that it stands in."""
        if text.strip():
            self._cut_in(code_block(text, language))

    def table(self, rows: Sequence[Sequence[str]], *, header_rows: int) -> None:
        """Add a table; it cuts the list that it stands in."""
        block = table_block(rows, header_rows=header_rows)
        if block is not None:
            self._cut_in(block)

    def document(
        self, path: str, *, title: object = None, metadata: Mapping[str, Any] | None = None
    ) -> ParsedDocument:
        """Return what was collected, under the title that the document states, if it does."""
        self._flush_lines()
        return ParsedDocument(
            title=self._outline.title(title, path),
            sections=self._outline.sections(),
            metadata=metadata or {},
        )

    def _continue_item(self, text: str) -> None:
        item = self._items[-1]
        indent = "  " * (len(self._items) - 1)
        if not item.has_line:
            self._lines.append(f"{indent}{item.marker} {text}")
        elif item.at_end:
            self._lines[-1] += f" {text}"
        elif self._lines:
            self._lines.append(f"{indent}  {text}")
        else:
            self._outline.add_block(Block(kind="paragraph", text=text))
            return
        item.has_line = item.at_end = True

    def _cut_in(self, block: Block) -> None:
        self._flush_lines()
        self._outline.add_block(block)

    def _flush_lines(self) -> None:
        if self._lines:
            self._outline.add_block(Block(kind="list", text="\n".join(self._lines)))
        self._lines = []
        for item in self._items:
            item.at_end = False
