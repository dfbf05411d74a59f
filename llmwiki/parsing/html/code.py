"""The text and the language of code in a page."""

import re
from collections.abc import Iterator
from itertools import islice

from bs4 import Tag
from bs4.element import NavigableString

_LANGUAGE = re.compile(r"^(?:language|lang|highlight-source|highlight|brush)[-:]\s*(?P<name>\S+)$")
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "plaintext", "text"})
_NEAR = 3
"""How far above its ``pre`` a generator names the language."""


def code_text(pre: Tag) -> str:
    """Return what a ``pre`` shows; line numbers are left out, line breaks are not."""
    parts = []
    for node in pre.descendants:
        if isinstance(node, Tag):
            if node.name == "br" or _follows_other_code(node):
                parts.append("\n")
        elif type(node) is NavigableString and not _is_line_number(node):
            parts.append(str(node))
    return "".join(parts)


def code_language(pre: Tag) -> str:
    """Return the language that a class of the ``pre``, its ``code`` or a wrapper names."""
    for tag in _around(pre):
        for name in tag.get_attribute_list("class"):
            named = _LANGUAGE.match(str(name))
            if named and named["name"] not in _NO_LANGUAGE:
                return named["name"]
    return ""


def _around(pre: Tag) -> Iterator[Tag]:
    code = pre.find("code")
    if isinstance(code, Tag):
        yield code
    yield pre
    yield from islice(pre.parents, _NEAR)


def _follows_other_code(tag: Tag) -> bool:
    """Tell the second of two listings in one ``pre``, as where a page offers a choice."""
    before = tag.previous_sibling
    return tag.name == "code" and isinstance(before, Tag) and before.name == "code"


def _is_line_number(text: NavigableString) -> bool:
    parent = text.parent
    classes = parent.get_attribute_list("class") if parent else []
    return "linenos" in classes or "lineno" in classes
