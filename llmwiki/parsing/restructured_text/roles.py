"""Roles in the running text of reStructuredText, those of Sphinx and unknown ones included."""

import html
import re

from docutils import nodes

_TITLE_AND_TARGET = re.compile(r"^(?P<title>.+)<(?P<target>[^<>]*+)>$", re.DOTALL)

_TAG = re.compile(r"</?[A-Za-z!][^<>]*+>")

_VERBATIM_ROLES = frozenset({"", "code", "file", "kbd", "literal", "regexp", "samp"})
"""Their text is no cross-reference: a ``~``, ``!`` or ``<`` in it is its own. Without a role,
Sphinx projects write code or names between single backticks."""

_NAME_ROLES = frozenset(
    {
        "any", "attr", "c", "class", "cmdoption", "command", "confval", "const", "ctype", "data",
        "dec", "deco", "directive", "download", "enum", "enumerator", "envvar", "exc", "expr",
        "func", "function", "macro", "mailheader", "makevar", "member", "meth", "method",
        "mimetype", "mod", "namespace", "newsgroup", "obj", "option", "paramref", "program",
        "property", "role", "setting", "struct", "token", "type", "union", "var", "variable",
    }
)  # fmt: skip
_PLAIN_ROLES = frozenset(
    {
        "abbr", "abbreviation", "ac", "acronym", "b", "dfn", "doc", "emphasis", "eq", "guilabel",
        "i", "keyword", "menuselection", "numref", "ref", "strong", "sub", "subscript", "sup",
        "superscript", "t", "term", "title", "title-reference",
    }
)  # fmt: skip
_NUMBERED_STANDARDS = {"pep": "PEP", "pep-reference": "PEP", "rfc": "RFC", "rfc-reference": "RFC"}


def tolerant_role(
    name: str, rawtext: str, text: str, *_: object, **__: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Give any role its text: names of code between backticks, the rest as prose."""
    role = (name or "").lower().rpartition(":")[2]
    plain = nodes.unescape(text)
    if role == "math":
        return [nodes.literal(rawtext, nodes.unescape(text, restore_backslashes=True))], []
    if role.startswith("raw"):  # projects define such roles for HTML, as `raw-html-m2r`
        return [nodes.Text(html.unescape(_TAG.sub(" ", plain)))], []
    if role in _VERBATIM_ROLES:
        return [nodes.literal(rawtext, plain)], []
    if role in _NAME_ROLES:
        return [nodes.literal(rawtext, _name_of(plain))], []
    return [nodes.Text(_prose_of(plain, role))], []


def _name_of(text: str) -> str:
    """Return what a reader sees of a reference to an object: ``~a.b.C`` shows ``C``."""
    explicit = _TITLE_AND_TARGET.match(text)
    if explicit:
        return explicit["title"].rstrip()
    name = text.removeprefix("!")
    if name.startswith("~"):
        name = name.rstrip(".").rpartition(".")[2].lstrip("~")
    return name.lstrip(".") or text


def _prose_of(text: str, role: str) -> str:
    if role == "abbr":  # its text is `LIFO (last-in, first-out)`, with no target
        return text
    explicit = _TITLE_AND_TARGET.match(text)
    if explicit:
        return explicit["title"].rstrip()
    if role in _NUMBERED_STANDARDS:
        return f"{_NUMBERED_STANDARDS[role]} {text.partition('#')[0]}"
    if role == "doc":
        return text.removeprefix("/")
    if role not in _PLAIN_ROLES and text.isdecimal():
        return f"#{text}"  # an issue or a change by a role of the project's own
    return text.removeprefix("~").removeprefix("!")
