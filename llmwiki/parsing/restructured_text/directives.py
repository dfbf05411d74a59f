"""Directives of reStructuredText: those of Sphinx and its extensions become plain structure."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives import misc, tables
from docutils.parsers.rst.states import SubstitutionDef
from docutils.statemachine import StringList

from llmwiki.parsing.restructured_text.directive_names import (
    ADMONITIONS,
    CODE_BESIDE_MARKER,
    DROPPED,
    LANGUAGE_BY_ARGUMENT,
    LANGUAGE_BY_NAME,
    OBJECTS,
    PICTURES,
    VERSION_CHANGES,
    WRAPPERS,
)

_FIELD = re.compile(r":(?!:)[^:]+:(\s|$)")


class _Tolerant(Directive):
    """Takes any argument, option and content; an unknown directive's text is for readers."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        argument, _, content = self._split()
        return [*self._parse(argument), *self._parse(content)]

    @property
    def _local_name(self) -> str:
        return _without_domain(self.name)

    def _split(self) -> tuple[StringList, list[str], StringList]:
        """Return the lines that begin beside the marker, those of options, and the rest."""
        marker_line, _, below = self.block_text.partition("\n")
        beside = bool(marker_line.partition("::")[2].strip())
        end = _end_of_argument(self.content) if beside else 0
        # Fields below a blank line are content; directly below the marker they are options.
        may_have_options = beside or not below.lstrip(" ").startswith("\n")
        body = _end_of_options(self.content, end) if may_have_options else end
        return self.content[:end], list(self.content[end:body]), self.content[body:]

    def _parse(self, content: StringList) -> list[nodes.Node]:
        container = nodes.container()
        if content:
            self.state.nested_parse(content, self.content_offset, container, match_titles=True)
        return list(container.children)


class _Dropped(_Tolerant):
    def run(self) -> list[nodes.Node]:
        return []


class _Raw(_Dropped):
    def run(self) -> list[nodes.Node]:
        # As the definition of a substitution it stands for a blank: a line break in most cases.
        return [nodes.Text(" ")] if isinstance(self.state, SubstitutionDef) else []


class _Wrapper(_Tolerant):
    def run(self) -> list[nodes.Node]:
        return self._parse(self._split()[2])


class _Picture(_Tolerant):
    def run(self) -> list[nodes.Node]:
        _, options, content = self._split()
        return [nodes.image(alt=_option(options, "alt")), *self._parse(content)]


class _Code(_Tolerant):
    def run(self) -> list[nodes.Node]:
        argument, options, content = self._split()
        name = self._local_name
        language = LANGUAGE_BY_NAME.get(name, "")
        lines = list(content)
        if name in CODE_BESIDE_MARKER:
            lines = [*argument, *lines]
        elif name in LANGUAGE_BY_ARGUMENT and argument:
            language = _first_word(argument)[0]
            lines = [*argument[1:], *lines]  # the blank line after the language was forgotten
        text = "\n".join(lines)
        caption = nodes.paragraph("", _option(options, "caption"))
        return [caption, nodes.literal_block(text, text, language=language)]


class _Admonition(_Tolerant):
    def run(self) -> list[nodes.Node]:
        argument, _, content = self._split()
        body = [*self._parse(argument), *self._parse(content)]
        return _labelled(ADMONITIONS[self._local_name], body)


class _VersionChange(_Tolerant):
    def run(self) -> list[nodes.Node]:
        argument, _, content = self._split()
        version, text = _first_word(argument)
        label = f"{VERSION_CHANGES[self._local_name]} {version}".strip()
        return _labelled(label, [*self._parse(text), *self._parse(content)])


class _Object(_Tolerant):
    def run(self) -> list[nodes.Node]:
        argument, _, content = self._split()
        return [*map(_signature, _whole_signatures(argument)), *self._parse(content)]


def _end_of_argument(content: StringList) -> int:
    for number, line in enumerate(content):
        if not line.strip() or _FIELD.match(line):
            return number
    return len(content)


def _end_of_options(content: StringList, start: int) -> int:
    end = start
    while end < len(content) and (
        _FIELD.match(content[end]) or (end > start and content[end].startswith(" "))
    ):
        end += 1
    return end


def _option(lines: Sequence[str], name: str) -> str:
    """Return the value of an option, with its continuation lines."""
    value: list[str] = []
    for line in lines:
        if line.startswith(f":{name}:"):
            value = [line.partition(f":{name}:")[2]]
        elif value and line.startswith(" "):
            value.append(line)
        elif value:
            break
    return " ".join(" ".join(value).split())


def _first_word(lines: StringList) -> tuple[str, StringList]:
    """Take the first word off the lines."""
    if not lines:
        return "", lines
    word, _, rest = lines[0].strip().partition(" ")
    return word, StringList([rest.strip(), *lines[1:]], source="")


def _whole_signatures(lines: StringList) -> list[str]:
    """Join the lines of a signature that goes on until its parentheses are closed."""
    signatures: list[list[str]] = []
    unclosed = 0
    for line in lines:
        if unclosed > 0:
            signatures[-1].append(line.strip())
        else:
            signatures.append([line])
            unclosed = 0
        unclosed += line.count("(") - line.count(")")
    return list(map(" ".join, signatures))


def _signature(line: str) -> nodes.Node:
    return nodes.paragraph("", "", nodes.literal(line, line.strip()))


def _labelled(label: str, body: list[nodes.Node]) -> list[nodes.Node]:
    """Put the label in front of the first paragraph."""
    if body and isinstance(body[0], nodes.paragraph):
        body[0].insert(0, nodes.Text(f"{label}: "))
        return body
    return [nodes.paragraph("", f"{label}:" if body else f"{label}."), *body]


class _AnyOption(dict[str, Callable[[str], Any]]):
    """The options of a directive; one that docutils does not know (it is Sphinx's) is taken too."""

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return str


def _lenient(directive: type[Directive]) -> type[Directive]:
    spec = _AnyOption(directive.option_spec or {})
    return type(directive.__name__, (directive,), {"option_spec": spec})


_BY_NAME: dict[str, type[Directive]] = {
    **dict.fromkeys(DROPPED, _Dropped),
    "raw": _Raw,
    **dict.fromkeys(WRAPPERS, _Wrapper),
    **dict.fromkeys(PICTURES, _Picture),
    **dict.fromkeys(LANGUAGE_BY_ARGUMENT | LANGUAGE_BY_NAME.keys(), _Code),
    **dict.fromkeys(ADMONITIONS, _Admonition),
    **dict.fromkeys(VERSION_CHANGES, _VersionChange),
    **dict.fromkeys(OBJECTS, _Object),
    "csv-table": _lenient(tables.CSVTable),
    "list-table": _lenient(tables.ListTable),
    "replace": misc.Replace,
    "table": _lenient(tables.RSTTable),
    "unicode": misc.Unicode,
}


def tolerant_directive(name: str) -> type[Directive]:
    """Return the class that handles directives of this name: there is one for every name."""
    local_name = _without_domain(name)
    if local_name in _BY_NAME:
        return _BY_NAME[local_name]
    return _Object if ":" in name or local_name.startswith("auto") else _Tolerant


def _without_domain(name: str) -> str:
    """Reduce ``py:function`` to ``function``."""
    return name.lower().rpartition(":")[2]
