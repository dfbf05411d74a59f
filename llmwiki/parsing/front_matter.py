"""Front matter: the metadata between the first lines of a document, as JSON values."""

import base64
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

import yaml

from llmwiki.errors import DocumentError

_FENCED = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*+\n(?![^\S\n]*+\n\s*+\S)"
    r"(?P<body>.*?)^(?P=fence)[ \t]*+(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_TOML_LINE = re.compile(r"at line (\d+)")
_UNQUOTED_COLON = re.compile(
    r"^(?P<key>[\w-]++:[ ]++)(?=[^\n#]*+$)"
    r"(?P<value>[^\s\"'\[\]{}>|&*!%@`#,?:-][^\n]*?:[ ](?:[^\n]*[^\n ])?+)[ ]*+$",
    re.MULTILINE,
)
_DEEP_TOML_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){33}""", re.ASCII
)
"""A dotted key takes tomllib the square of its length, and one as deep is refused anyway."""

_LONGEST = 64 * 1024
"""Characters of front matter: more of it is a document between two lines, or an attack."""
_MOST_ALIASES = 32
"""YAML aliases multiply: with this many, a merge yields at most some 100,000 pairs."""
_MOST_VALUES = 10_000
_DEEPEST = 32


def split_front_matter(path: str, text: str) -> tuple[dict[str, Any], str]:
    """Return the metadata of the document and the text below it.

    A thematic break with an empty line below it opens no front matter, nor does one that
    nothing closes.
    """
    match = _FENCED.match(text)
    if match is None:
        return {}, text
    try:
        metadata = _as_mapping(_read(match["fence"], match["body"]))
    except _BrokenError as error:
        raise DocumentError(
            path,
            f"line {error.line}: the front matter {error.problem}",
            "correct it, or remove it with its two marker lines",
        ) from error
    return metadata, text[match.end() :]


class _BrokenError(Exception):
    """What is wrong with the front matter, and on which line of the document."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


def _read(fence: str, body: str) -> object:
    if len(body) > _LONGEST:
        raise _BrokenError(2, f"is longer than {_LONGEST // 1024} kB")
    return _read_yaml(body) if fence == "---" else _read_toml(body)


def _read_yaml(body: str) -> object:
    try:
        if "*" in body and _count_aliases(body) > _MOST_ALIASES:
            raise _BrokenError(2, f"uses more than {_MOST_ALIASES} YAML aliases")
        return _load_yaml(body)
    except yaml.MarkedYAMLError as error:
        # The marker line above the body, and lines that count from zero.
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        raise _BrokenError(line, f"is not valid YAML ({error.problem})") from error
    except yaml.reader.ReaderError as error:
        line = body.count("\n", 0, error.position) + 2
        raise _BrokenError(line, f"is not valid YAML ({error.reason})") from error
    except ValueError as error:
        # Dates such as 2024-13-45 match YAML's pattern and no calendar.
        raise _BrokenError(2, f"is not valid YAML ({error})") from error
    except RecursionError as error:
        raise _BrokenError(2, "is nested too deeply") from error


def _load_yaml(body: str) -> object:
    """Load the body, and where that fails, with its unquoted titles quoted.

    A title such as ``Logs: reading them`` is a common slip with only one meaning.
    """
    try:
        return yaml.safe_load(body)
    except yaml.scanner.ScannerError:
        quoted = _UNQUOTED_COLON.sub(_quote_value, body)
        if quoted == body:
            raise
        return yaml.safe_load(quoted)


def _quote_value(match: re.Match[str]) -> str:
    escaped = match["value"].replace("'", "''")
    return f"{match['key']}'{escaped}'"


def _count_aliases(body: str) -> int:
    events = yaml.parse(body, Loader=yaml.SafeLoader)
    return sum(isinstance(event, yaml.AliasEvent) for event in events)


def _read_toml(body: str) -> object:
    if deep := _DEEP_TOML_KEY.search(body):
        raise _BrokenError(body.count("\n", 0, deep.start()) + 2, "has a key of too many parts")
    try:
        return tomllib.loads(body)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) + 1 if found else body.count("\n") + 1
        raise _BrokenError(line, f"is not valid TOML ({error})") from error
    except RecursionError as error:
        raise _BrokenError(2, "is nested too deeply") from error


def _as_mapping(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _BrokenError(2, "is not a list of `key: value` pairs")
    return _JsonConverter().convert_mapping(value, 0)


class _JsonConverter:
    """Converts to JSON values within bounds, since aliases make small texts large."""

    def __init__(self) -> None:
        self._values = 0

    def convert_mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        return {_text(key): self.convert(item, depth + 1) for key, item in value.items()}

    def convert(self, value: object, depth: int) -> object:
        self._values += 1
        if self._values > _MOST_VALUES or depth > _DEEPEST:
            raise _BrokenError(2, "holds too many values, or nests them too deeply")
        if isinstance(value, Mapping):
            return self.convert_mapping(value, depth)
        if isinstance(value, list | tuple):
            return [self.convert(item, depth + 1) for item in value]
        if isinstance(value, set | frozenset):
            return [self.convert(item, depth + 1) for item in sorted(value, key=str)]
        return _scalar(value)


def _scalar(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _text(value)


def _text(value: object) -> str:
    """Return the value as text that PostgreSQL stores: no NUL, no lone surrogate."""
    written = next((write(value) for kind, write in _WRITERS if isinstance(value, kind)), None)
    plain = str(value) if written is None else written
    return plain.replace("\0", "").encode("utf-8", "replace").decode()


_WRITERS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    ((datetime, date, time), lambda moment: moment.isoformat()),
    (bytes, lambda data: base64.b64encode(data).decode()),
)
