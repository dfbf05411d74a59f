"""Admonitions and tabs of MkDocs, Python-Markdown blocks, Docusaurus, MyST and GitHub.

Their markers go, their titles become a line that ends with a colon, their text stays.
"""

import re
from collections.abc import Iterator

_INDENTED = re.compile(
    r"(?:!!!|\?\?\?\+?)[ \t]++(?P<kind>[\w-]++)[^\"\n]*+(?:\"(?P<title>.*)\"[ \t]*+)?$"
    r"|===[!+]?[ \t]++\"(?P<tab>.*)\"[ \t]*+$"
)
_SLASHES = re.compile(
    r"(?P<marker>/{3,}+)[ \t]*+(?P<kind>[\w-]++)[ \t]*+"
    r"(?:\|[ \t]*+(?P<title>(?:.*[^ \t])?+)[ \t]*+)?$"
)
_COLONS = re.compile(
    r"(?P<marker>:{3,}+)[ \t]*+(?:\{(?P<myst>[\w:+-]++)\}|(?P<kind>[A-Za-z][\w-]*+))"
    r"(?:\[(?P<bracketed>.*)\]|(?P<title>[ \t](?:.*?[^ \t])??)?[ \t]*+)(?:\{[^{}]*+\})?[ \t]*+$"
)
_COLONS_OF_ATTRIBUTES = re.compile(r":{3,}+[ \t]*\{[^{}]*\}[ \t]*$")
_END = re.compile(r"(?:/{3,}+|:{3,}+)[ \t]*$")
_PYTHON_OBJECT = re.compile(r":::[ \t]+(?P<name>[A-Za-z_][\w.]*)[ \t]*$")
_OPTION = re.compile(r"[ \t]{4,}\S|[ \t]*:[\w-]+:(?:[ \t]|$)")
_GITHUB_ALERT = re.compile(r"(?P<quote>[ \t]*(?:>[ \t]?)+)\[!(?P<kind>\w+)\][-+]?(?P<title>.*)$")
_HEADING = re.compile(r"#{1,6}[ \t]++(?P<text>(?:.*?[^ \t])??)(?:[ \t]++#++)?[ \t]*+$")
_CONTAINER = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*")

_STEP = 4
"""Columns by which MkDocs indents the body of an admonition."""
_UNTITLED = {"tab", "tabs", "tabitem", "tab-item", "tab-set", "grid", "html", "div", "details"}
_ADMONITIONS = {
    "admonition", "attention", "caution", "check", "danger", "details", "error", "failure",
    "hint", "important", "info", "note", "question", "quote", "seealso", "success", "summary",
    "tip", "warning",
}  # fmt: skip
"""Kinds that a documentation generator knows; the name of another may be a Python module."""
_SECTIONED = {"tab", "tabs", "tab-set", "tab-item", "tabitem", "grid", "div"}
"""Kinds that only arrange their text: headings in them are the document's own."""


def rewrite_directives(text: str) -> str:
    """Unwrap admonitions and tabs."""
    return "\n".join(_DirectiveReader(text.split("\n")).read())


class _DirectiveReader:
    """Reads lines and knows which directives are open at each."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._bodies: list[tuple[int, bool]] = []
        """Column and kind (does it only arrange?) of each indented body that is open."""
        self._blocks: list[bool] = []
        """Whether each block between markers that is open only arranges."""
        self._admonitions = 0
        """How many of the blocks do not."""
        self._ends_left = sum(_END.match(line.lstrip(" \t>")) is not None for line in lines)
        self._options_follow = False

    def read(self) -> Iterator[str]:
        for line in self._lines:
            yield from self._read_line(self._dedent(line))

    def _dedent(self, line: str) -> str:
        if not line.strip():
            return line
        column = len(line) - len(line.lstrip(" "))
        while self._bodies and column < self._bodies[-1][0]:
            self._bodies.pop()
        # A tab is as good as four blanks, and the rest of the line keeps its own indentation.
        return line[min(column, _STEP * len(self._bodies)) :]

    def _read_line(self, line: str) -> Iterator[str]:
        if self._options_follow and _OPTION.match(line):
            return
        self._options_follow = False
        container_match = _CONTAINER.match(line)
        container = container_match[0] if container_match else ""
        content = line[len(container) :]
        if (alert := _GITHUB_ALERT.match(line)) is not None:
            title = _titled(alert["kind"], alert["title"])
            yield from (f"{alert['quote']}{title}", alert["quote"].rstrip())
        elif content[:1] in "!?=" and (opening := _INDENTED.match(content)) is not None:
            yield from self._open_indented(container, opening)
        elif content[:3] in {":::", "///"}:
            yield from self._read_marker(container, content)
        else:
            yield container + self._demote(content)

    def _open_indented(self, container: str, opening: re.Match[str]) -> Iterator[str]:
        tab = opening["tab"]
        column = len(container) + _STEP * (len(self._bodies) + 1)
        self._bodies.append((column, tab is not None))
        title = _titled("tab", tab) if tab is not None else self._admonition_title(opening)
        yield from ("", container + title, "")

    def _admonition_title(self, opening: re.Match[str]) -> str:
        # An empty pair of quotes asks for no title.
        return "" if opening["title"] == "" else _titled(opening["kind"], opening["title"])

    def _read_marker(self, container: str, content: str) -> Iterator[str]:
        if _END.match(content):
            self._ends_left -= 1
            if self._blocks:
                self._admonitions -= not self._blocks.pop()
            yield container.rstrip()
        elif (name := _PYTHON_OBJECT.match(content)) and name["name"] not in _ADMONITIONS:
            self._options_follow = True
            yield from ("", f"{container}`{name['name']}`", "")
        elif opening := _SLASHES.match(content):
            yield from self._open_block(container, opening["kind"], opening["title"])
        elif opening := _COLONS.match(content):
            title = opening["bracketed"] if opening["title"] is None else opening["title"]
            yield from self._open_block(container, opening["myst"] or opening["kind"], title)
        elif _COLONS_OF_ATTRIBUTES.match(content):
            self._blocks.append(True)
            yield container.rstrip()
        else:
            yield container + content

    def _open_block(self, container: str, kind: str, title: str | None) -> Iterator[str]:
        arranges = kind.lower() in _SECTIONED
        self._blocks.append(arranges)
        self._admonitions += not arranges
        self._options_follow = True
        bare = container.rstrip()
        yield from (bare, container + _titled(kind, title), bare)

    def _demote(self, content: str) -> str:
        """Return a heading inside of an admonition as a paragraph.

        A block that nothing closes is no admonition: what follows keeps its headings.
        """
        is_inside = any(not arranges for _, arranges in self._bodies) or (
            self._ends_left > 0 and self._admonitions > 0
        )
        heading = _HEADING.match(content) if is_inside and content.startswith("#") else None
        return f"\n{heading['text']}\n" if heading else content


def _titled(kind: str, title: str | None) -> str:
    """Return the title as a line that introduces what follows."""
    text = (title or "").strip() or ("" if kind.lower() in _UNTITLED else _spoken(kind))
    if text and text[-1].isalnum():
        return text + ":"
    return text


def _spoken(kind: str) -> str:
    return kind.replace("-", " ").lower().capitalize()
