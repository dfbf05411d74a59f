"""Walks the elements of a page in reading order and hands what they say to the builder."""

from collections.abc import Iterable
from dataclasses import dataclass

from bs4 import Tag

from llmwiki.parsing.builder import DocumentBuilder
from llmwiki.parsing.gfm import lay_out
from llmwiki.parsing.html.code import code_language, code_text
from llmwiki.parsing.html.inline import InlineReader, inline_text

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LAYOUT_CONTENT = ["pre", "table"]
_CHAPTER_CONTENT = ["dl", "ol", "pre", "table", "ul"]
_LARGEST_SPAN = 100


@dataclass(slots=True)
class _Definitions:
    """A definition list that is open; only a short one becomes a list of ours."""

    is_short: bool
    has_open_item: bool = False


class FlowReader(InlineReader):
    """Reads a page as headings and blocks."""

    def __init__(self, builder: DocumentBuilder) -> None:
        super().__init__()
        self._builder = builder
        self._numbers: list[int | None] = []
        self._definitions: list[_Definitions] = []
        self._layouts: set[int] = set()
        self._chapters: set[int] = set()
        self.top_headings = 0

    def read(self, root: Tag) -> None:
        """Read what is below the root."""
        self._layouts = _holders_of(root.find_all(_LAYOUT_CONTENT))
        self._chapters = _holders_of(root.find_all(_CHAPTER_CONTENT))
        super().read(root)
        self.separate()
        self._builder.end_list()

    def separate(self) -> None:
        """End the paragraph."""
        self._builder.paragraph(self.take_text())

    def enter(self, tag: Tag) -> bool:
        """Handle whole headings, code and tables; open lists and their items."""
        if not self.is_visible(tag):
            return False
        if tag.name in _HEADINGS or tag.name == "pre" or self._is_data_table(tag):
            self.separate()
            self._add_whole(tag)
            return False
        is_entered = super().enter(tag)
        match tag.name:
            case "ul" | "menu":
                self._numbers.append(None)
            case "ol":
                self._numbers.append(_number(tag, "start", 1))
            case "li":
                self._begin_item(tag)
            case "dl":
                self._definitions.append(_Definitions(is_short=self._is_short(tag)))
            case "dt":
                self._begin_term()
        return is_entered

    def leave(self, tag: Tag) -> None:
        """Close lists and their items."""
        if tag.name == "dt" and self._definitions and self._definitions[-1].is_short:
            self.add_colon()
        super().leave(tag)
        match tag.name:
            case "ul" | "ol" | "menu":
                self._numbers.pop()
                self._builder.end_list()
            case "li":
                self._definitions.pop()
                self._builder.end_item()
            case "dl":
                self._end_term()
                self._definitions.pop()
                self._builder.end_list()

    def _is_data_table(self, tag: Tag) -> bool:
        """Tell a table from a layout: cells of the latter hold code or other tables."""
        is_layout = id(tag) in self._layouts or tag.get("role") == "presentation"
        return tag.name == "table" and not is_layout

    def _is_short(self, definitions: Tag) -> bool:
        """Tell a glossary from the description of an API, whose definitions are chapters."""
        return all(
            id(definition) not in self._chapters
            and len(definition.find_all("p", recursive=False)) <= 1
            for definition in definitions.find_all("dd", recursive=False)
        )

    def _add_whole(self, tag: Tag) -> None:
        if tag.name in _HEADINGS:
            level = int(tag.name[1])
            self._builder.heading(level, inline_text(tag))
            self.top_headings += level == 1
        elif tag.name == "pre":
            self._builder.code(code_text(tag), code_language(tag))
        else:
            self._add_table(tag)

    def _add_table(self, table: Tag) -> None:
        for caption in table.find_all("caption"):
            self._builder.paragraph(inline_text(caption))
        rows = table.find_all("tr")
        cells = [row.find_all(["td", "th"], recursive=False) for row in rows]
        header_rows = sum(row.parent is not None and row.parent.name == "thead" for row in rows)
        if not header_rows and cells and all(cell.name == "th" for cell in cells[0]):
            header_rows = 1
        texts = lay_out([list(map(_cell, row)) for row in cells])
        self._builder.table(texts, header_rows=header_rows)

    def _begin_item(self, tag: Tag) -> None:
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            self._builder.begin_item("-")
        else:
            number = _number(tag, "value", number)
            self._builder.begin_item(f"{number}.")
            self._numbers[-1] = number + 1
        # A term inside an item belongs to no definition list around that item.
        self._definitions.append(_Definitions(is_short=False))

    def _begin_term(self) -> None:
        if self._definitions and self._definitions[-1].is_short:
            self._end_term()
            self._builder.begin_item("-")
            self._definitions[-1].has_open_item = True

    def _end_term(self) -> None:
        if self._definitions[-1].has_open_item:
            self._builder.end_item()
            self._definitions[-1].has_open_item = False


def _holders_of(tags: Iterable[Tag]) -> set[int]:
    """Return the identities of all tags around the given ones.

    Found once for the page: to search below each tag takes too long where they nest deeply.
    """
    holders: set[int] = set()
    for tag in tags:
        for parent in tag.parents:
            if id(parent) in holders:
                break
            holders.add(id(parent))
    return holders


def _cell(cell: Tag) -> tuple[str, int, int]:
    return inline_text(cell), _span(cell, "colspan"), _span(cell, "rowspan")


def _span(cell: Tag, attribute: str) -> int:
    return min(max(_number(cell, attribute, 1), 1), _LARGEST_SPAN)


def _number(tag: Tag, attribute: str, default: int) -> int:
    value = str(tag.get(attribute, ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default
