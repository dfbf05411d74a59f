"""Walks a document tree of docutils and hands its pieces to the builder."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import filterfalse

from docutils import nodes

from llmwiki.parsing.builder import DocumentBuilder
from llmwiki.parsing.gfm import fold, inline_code, lay_out, link

_ERROR_LEVEL = 3
"""From here on docutils keeps the rejected lines in the message only; below, they are repeated."""

_MARKER = re.compile(r"^[^\S\n]*+\.\. ++(?:\|[^|]++\| ++)?(?:[\w:.+-]+::)?", re.MULTILINE)


def render(document: nodes.document, builder: DocumentBuilder) -> None:
    """Hand the whole document over."""
    _Renderer(builder).children(document)


class _Renderer:
    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._depth = 0
        self._by_type: dict[type[nodes.Node], Callable[..., None]] = {
            nodes.Text: self._text,
            nodes.attribution: self._text,
            nodes.bullet_list: self._bullet_list,
            nodes.caption: self._text,
            nodes.citation: self._footnote,
            nodes.comment: self._nothing,
            nodes.definition_list: self._definition_list,
            nodes.doctest_block: self._doctest,
            nodes.enumerated_list: self._enumerated_list,
            nodes.field_list: self._field_list,
            nodes.footnote: self._footnote,
            nodes.image: self._text,
            nodes.label: self._nothing,
            nodes.line_block: self._line_block,
            nodes.literal_block: self._literal_block,
            nodes.option_list: self._option_list,
            nodes.paragraph: self._text,
            nodes.problematic: self._text,
            nodes.reference: self._text,
            nodes.section: self._section,
            nodes.substitution_definition: self._nothing,
            nodes.system_message: self._system_message,
            nodes.table: self._table,
            nodes.target: self._nothing,
            nodes.title: self._title,
            nodes.transition: self._nothing,
        }

    def children(self, node: nodes.Element) -> None:
        """Hand over what a node holds; one of a kind not listed is a mere container."""
        for child in node.children:
            self._by_type.get(type(child), self.children)(child)

    def _nothing(self, node: nodes.Node) -> None:
        """Leave out what no reader sees."""

    def _text(self, node: nodes.Node) -> None:
        self._builder.paragraph(inline_text(node))

    def _section(self, node: nodes.section) -> None:
        self._depth += 1
        self.children(node)
        self._depth -= 1

    def _title(self, node: nodes.title) -> None:
        if isinstance(node.parent, nodes.section):
            self._builder.heading(self._depth, inline_text(node))
        else:
            self._text(node)

    def _literal_block(self, node: nodes.literal_block) -> None:
        self._builder.code(node.astext(), node.get("language", ""))

    def _doctest(self, node: nodes.doctest_block) -> None:
        self._builder.code(node.astext(), "pycon")

    def _line_block(self, node: nodes.line_block) -> None:
        lines = (inline_text(line) for line in node.findall(nodes.line))
        self._builder.paragraph("\n".join(line for line in lines if line))

    def _bullet_list(self, node: nodes.bullet_list) -> None:
        self._items(("-", "", item) for item in _elements(node))

    def _enumerated_list(self, node: nodes.enumerated_list) -> None:
        self._items(
            (f"{_ordinal(number, node['enumtype'])}.", "", item)
            for number, item in enumerate(_elements(node), node.get("start", 1))
        )

    def _definition_list(self, node: nodes.definition_list) -> None:
        self._items(("-", f"{_terms(item)}:", _elements(item)[-1]) for item in _elements(node))

    def _field_list(self, node: nodes.field_list) -> None:
        self._items(
            ("-", f"{inline_text(name)}:", body) for name, body in map(_elements, _elements(node))
        )

    def _option_list(self, node: nodes.option_list) -> None:
        self._items(
            ("-", f"{_options(group)}:", description)
            for group, description in map(_elements, _elements(node))
        )

    def _footnote(self, node: nodes.footnote | nodes.citation) -> None:
        label = node.next_node(nodes.label)
        text = label.astext() if label is not None else "#"
        self._items([(f"[{text}]", "", node)])

    def _items(self, items: Iterable[tuple[str, str, nodes.Element]]) -> None:
        """Hand over a list: the marker, the term and the body of each item."""
        for marker, term, body in items:
            self._builder.begin_item(marker)
            self._builder.paragraph(term)
            self.children(body)
            self._builder.end_item()
        self._builder.end_list()

    def _table(self, node: nodes.table) -> None:
        for title in node.findall(nodes.title):
            self._text(title)
        head = [row for part in node.findall(nodes.thead) for row in _elements(part)]
        body = [row for part in node.findall(nodes.tbody) for row in _elements(part)]
        self._builder.table([*_grid(head), *_grid(body)], header_rows=len(head))

    def _system_message(self, node: nodes.system_message) -> None:
        if node["level"] < _ERROR_LEVEL:
            return
        for rejected in node.children:
            if isinstance(rejected, nodes.literal_block):
                lines = _MARKER.sub("", rejected.astext()).splitlines()
                self._builder.paragraph(fold("\n".join(filterfalse(_is_adornment, lines))))


def inline_text(node: nodes.Node) -> str:
    """Return the text of a paragraph, a title or another node on one line."""
    return fold(_raw_inline_text(node))


def _raw_inline_text(node: nodes.Node) -> str:
    match node:
        case nodes.Text():
            text = node.astext()
        case nodes.literal() | nodes.literal_block() | nodes.math():
            text = inline_code(node.astext())
        case nodes.image():
            text = str(node.get("alt", ""))
        case nodes.footnote_reference() | nodes.citation_reference():
            text = f"[{node.astext()}]"
        case nodes.system_message() | nodes.raw() | nodes.comment():
            text = ""
        case nodes.reference():
            text = link("".join(map(_raw_inline_text, node.children)), node.get("refuri", ""))
        case nodes.TextElement():
            text = "".join(map(_raw_inline_text, node.children))
        case _:
            text = " ".join(map(_raw_inline_text, node.children))
    return text


def _ordinal(number: int, kind: str) -> str:
    match kind:
        case "loweralpha":
            return chr(ord("a") + number - 1)
        case "upperalpha":
            return chr(ord("A") + number - 1)
        case _:
            return str(number)


def _terms(item: nodes.Element) -> str:
    """Return a term and, in parentheses, what it is classified as."""
    terms = ", ".join(map(inline_text, item.findall(nodes.term)))
    classifiers = ", ".join(map(inline_text, item.findall(nodes.classifier)))
    return f"{terms} ({classifiers})" if classifiers else terms


def _options(group: nodes.Node) -> str:
    return inline_code(", ".join(option.astext() for option in group.children))


def _elements(node: nodes.Element) -> list[nodes.Element]:
    return [child for child in node.children if isinstance(child, nodes.Element)]


def _grid(rows: Sequence[nodes.Element]) -> list[list[str]]:
    """Lay cells out in a rectangle; the places that a wide or high cell covers stay empty."""
    cells = [
        [
            (inline_text(entry), entry.get("morecols", 0) + 1, entry.get("morerows", 0) + 1)
            for entry in _elements(row)
        ]
        for row in rows
    ]
    return lay_out(cells)


def _is_adornment(line: str) -> bool:
    """Tell a line of a title or of a table's frame: one character repeated."""
    characters = set(line) - set("+| ")
    return len(characters) <= 1 and not any(map(str.isalnum, characters))
