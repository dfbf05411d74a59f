"""The running text of a page: code between backticks, links with their address."""

from bs4 import Tag
from bs4.element import NavigableString

from llmwiki.parsing.gfm import fold, inline_code, link

_SKIPPED = frozenset(
    {
        "aside", "button", "footer", "head", "iframe", "nav", "noscript", "object", "script",
        "select", "style", "svg", "template", "textarea",
    }
)  # fmt: skip
_SKIPPED_ROLES = frozenset({"banner", "contentinfo", "navigation", "search"})
_SKIPPED_CLASSES = frozenset({"headerlink", "hash-link", "lineno", "linenos"})
"""Marks beside a heading and numbers beside code, as documentation generators name them."""

_ANCHOR_MARKS = frozenset({"#", "\u00a7", "\u00b6", "\U0001f517"})
"""All that a link of a heading to itself says."""

_CODE = frozenset({"code", "kbd", "samp", "tt"})
_INLINE = _CODE | frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em",
        "font", "i", "img", "ins", "label", "mark", "q", "rp", "rt", "ruby", "s", "small",
        "span", "strike", "strong", "sub", "sup", "time", "u", "var", "wbr",
    }
)  # fmt: skip


class InlineReader:
    """Reads everything below a tag as one run of text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._link_starts: list[int] = []

    def read(self, root: Tag) -> None:
        """Read what is below the root, with a stack of open tags in place of recursion."""
        open_tags = [(root, iter(root.children))]
        while open_tags:
            tag, children = open_tags[-1]
            node = next(children, None)
            if node is None:
                open_tags.pop()
                if open_tags:
                    self.leave(tag)
            elif isinstance(node, Tag):
                if self.enter(node):
                    open_tags.append((node, iter(node.children)))
            elif type(node) is NavigableString:  # comments and scripts are of derived types
                self._parts.append(str(node))

    def take_text(self) -> str:
        """Return the text collected, and begin anew."""
        text, self._parts = fold("".join(self._parts)), []
        return text

    def add_colon(self) -> None:
        """End a term, unless it ends with a colon by itself."""
        term = "".join(self._parts).rstrip()
        if term and not term.endswith(":"):
            self._parts = [term, ":"]

    def separate(self) -> None:
        """Keep what one block says apart from the next."""
        self._parts.append(" ")

    def enter(self, tag: Tag) -> bool:
        """Open a tag; return whether to go on with what is inside."""
        if not self.is_visible(tag):
            return False
        if tag.name in _CODE and tag.find("pre") is None:
            self._parts.append(inline_code(tag.get_text()))
            return False
        if tag.name == "a":
            self._link_starts.append(len(self._parts))
        elif tag.name == "img":
            self._parts.append(str(tag.get("alt", "")))
        elif tag.name == "br":
            self._parts.append("\n")
        elif tag.name not in _INLINE:
            self.separate()
        return True

    def leave(self, tag: Tag) -> None:
        """Close a tag that was entered."""
        if tag.name == "a":
            start = self._link_starts.pop()
            text = "".join(self._parts[start:])
            if text.strip():
                self._parts[start:] = [link(text, str(tag.get("href", "")))]
        elif tag.name not in _INLINE and tag.name != "br":
            self.separate()

    @staticmethod
    def is_visible(tag: Tag) -> bool:
        """Tell whether a tag holds content of the page, rather than what surrounds it."""
        if tag.name in _SKIPPED or tag.get("role") in _SKIPPED_ROLES or tag.has_attr("hidden"):
            return False
        if not _SKIPPED_CLASSES.isdisjoint(map(str, tag.get_attribute_list("class"))):
            return False
        if tag.name == "a" and tag.get_text(strip=True) in _ANCHOR_MARKS:
            return False
        if tag.name == "header":  # that of an article holds its heading
            return tag.find_parent(["main", "article"]) is not None
        if tag.name == "form":  # some servers wrap the whole page in one
            return tag.find(["h1", "main", "article"]) is not None
        return True


def inline_text(tag: Tag) -> str:
    """Return what a heading or a cell says, on one line."""
    reader = InlineReader()
    reader.read(tag)
    return reader.take_text()
