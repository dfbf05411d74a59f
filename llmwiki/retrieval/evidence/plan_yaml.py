"""Reads a YAML file into plain values, and remembers the line of each.

Every scalar stays the text that was written: ``no`` is a word and ``1.10`` a version here, not
False and 1.1. Only ``null`` and an empty value are None. Nothing is ever constructed from tags.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from llmwiki.retrieval.evidence.plans import Place

LARGEST_FILE = 256 * 1024
"""Bytes."""

MOST_VALUES = 10_000
"""Values of one file, those that aliases repeat included: an alias of aliases grows fast."""

DEEPEST_NESTING = 20

_NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")

_NULL_TAG = "tag:yaml.org,2002:null"

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """What is wrong with a plan, where, and what would be right."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class PlanFileError(Exception):
    """A file that holds no plan at all; the problem says why."""

    def __init__(self, problem: PlanProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The values of a file, and where each of them stands."""

    name: str
    values: Any
    lines: Mapping[KeyPath, int]

    def place(self, path: KeyPath) -> Place:
        """Return where a value stands, or the nearest that holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        return Place(self.name, self.lines.get(path, 1))


@dataclass(slots=True)
class _Reader:
    """Turns nodes into values."""

    name: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    count: int = 0

    def read(self, node: yaml.Node, path: KeyPath) -> Any:  # noqa: ANN401 - any YAML value
        self.count += 1
        if self.count > MOST_VALUES:
            self._refuse(node, f"the file has more than {MOST_VALUES} values, aliases included")
        if len(path) > DEEPEST_NESTING:
            self._refuse(node, f"values are nested more than {DEEPEST_NESTING} deep")
        self.lines.setdefault(path, node.start_mark.line + 1)
        match node:
            case yaml.MappingNode():
                return self._mapping(node, path)
            case yaml.SequenceNode():
                return [self.read(each, (*path, place)) for place, each in enumerate(node.value)]
            case yaml.ScalarNode():
                return None if node.tag == _NULL_TAG else self._text(node)
            case _:
                raise AssertionError(node)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse(key_node, "a key must be a word, not a list or a mapping")
            key = self._text(key_node)
            if key in values:
                self._refuse(key_node, f"the key {key!r} stands here for the second time")
            self.lines[*path, key] = key_node.start_mark.line + 1
            values[key] = self.read(value_node, (*path, key))
        return values

    def _text(self, node: yaml.ScalarNode) -> str:
        """Return what is written; an escape can name what neither search nor database takes."""
        text: str = node.value
        if _NO_TEXT.search(text):
            self._refuse(node, "a value holds a NUL or half of a surrogate pair")
        return text

    def _refuse(self, node: yaml.Node, message: str) -> None:
        place = Place(self.name, node.start_mark.line + 1)
        raise PlanFileError(PlanProblem(place, message))


def read_yaml(file: Path, name: str) -> tuple[Written, ...]:
    """Read the documents of one file; ``name`` is how their places call it.

    Raises PlanFileError.
    """
    text = _read_text(file, name)
    reader = _Reader(name)
    try:
        documents = tuple(_documents(text, reader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = ", ".join(filter(None, (error.context, error.problem)))
        raise _file_error(name, f"no valid YAML: {told}", mark.line + 1 if mark else 1) from error
    except yaml.YAMLError as error:
        raise _file_error(name, f"no valid YAML: {error}") from error
    except RecursionError as error:
        raise _file_error(name, "the values are nested too deep to be read") from error
    if not documents:
        raise _file_error(name, "the file is empty; write a plan, or remove the file")
    return documents


def _documents(text: str, reader: _Reader) -> Iterator[Written]:
    for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
        reader.lines = {}
        values = reader.read(node, ())
        if values is not None:
            yield Written(name=reader.name, values=values, lines=reader.lines)


def _read_text(file: Path, name: str) -> str:
    try:
        if file.is_fifo():
            raise _file_error(name, "cannot be read: it is a pipe, which has no end")
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _file_error(name, f"cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_FILE:
        raise _file_error(name, f"the file is larger than {LARGEST_FILE} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _file_error(name, "the file is not UTF-8", line) from error


def _file_error(name: str, message: str, line: int = 1) -> PlanFileError:
    return PlanFileError(PlanProblem(Place(name, line), message))
