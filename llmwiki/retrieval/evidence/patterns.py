"""What a plan may write where it matches text: words, globs, and expressions of a safe engine.

Plans are written by people who did not write the questions, so no pattern may be able to hang
one: expressions run in RE2, whose time is linear in the text whatever the expression is. It has
neither look-around nor back-references; such an expression is refused when the plan is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from llmwiki.text.globs import glob_expression
from llmwiki.text.hashing import normalise
from llmwiki.text.words import find_words, spaced

LONGEST_EXPRESSION = 1_000
"""Characters. RE2's time also grows with the size of the expression."""

_MOST_MEMORY = 1 << 20
"""Bytes that one compiled expression may take; a larger one is refused as too large."""

_NOTHING_MATCHES = 1
"""Instructions of a program that can only fail."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A text that patterns are tried on, in the forms that they need."""

    text: str
    words: str
    """Its words, each between blanks."""


@lru_cache(maxsize=4096)
def text_subject(text: str) -> Subject:
    """Prepare a question or a heading; its white space means nothing."""
    line = _encodable(normalise(text))
    return Subject(text=line, words=spaced(line))


@lru_cache(maxsize=4096)
def path_subject(path: str) -> Subject:
    """Prepare a path, which is compared as it is."""
    return Subject(text=_encodable(path), words="")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One word or several in a row, compared as whole words and without case."""

    words: tuple[str, ...]

    def matches(self, subject: Subject) -> bool:
        """Tell whether the words occur in the subject, one after the other."""
        return f" {' '.join(self.words)} " in subject.words

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Glob:
    """A path pattern: ``*`` stays in a folder, ``**`` crosses folders."""

    pattern: str

    def matches(self, subject: Subject) -> bool:
        """Tell whether the whole path matches."""
        return _compile_glob(self.pattern).fullmatch(subject.text) is not None

    def __str__(self) -> str:
        return self.pattern


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression of RE2, found anywhere in the text, without case."""

    source: str

    def matches(self, subject: Subject) -> bool:
        """Tell whether the expression matches somewhere."""
        return _compile(self.source).search(subject.text) is not None

    def matches_everything(self) -> bool:
        """Tell whether the expression is content with nothing at all."""
        return _compile(self.source).search("") is not None

    def __str__(self) -> str:
        return f"/{self.source}/"


TextPattern = Phrase | Expression
PathPattern = Glob | Expression


def read_phrase(text: str) -> Phrase:
    """Return the phrase. Raises ValueError where the text holds no word."""
    words = find_words(text)
    if not words:
        message = f"{text!r} holds no word, so it can match nothing; write a word or a `regex`"
        raise ValueError(message)
    return Phrase(words)


def read_glob(text: str) -> Glob:
    """Return the glob. Raises ValueError for one that is empty or cannot match a path."""
    if not text.strip():
        raise ValueError("the glob is empty; write a path as `guides/**/*.md`")
    if text.startswith(("/", "./", "../")):
        message = f"{text!r} matches no path: paths are relative to the folder that was ingested"
        raise ValueError(message)
    try:
        _compile_glob(text)
    except (re2.error, UnicodeEncodeError) as error:
        message = f"bad glob {text[:80]!r}: {_reason(error)}"
        raise ValueError(message) from error
    return Glob(text)


def read_expression(source: str) -> Expression:
    """Return the expression. Raises ValueError that says what RE2 cannot do with it."""
    if not source:
        raise ValueError("the expression is empty, so it would match everything")
    if len(source) > LONGEST_EXPRESSION:
        message = f"the expression has {len(source)} characters; {LONGEST_EXPRESSION} at most"
        raise ValueError(message)
    try:
        compiled = _compile(source)
    except (re2.error, UnicodeEncodeError) as error:
        message = (
            f"bad expression {source!r}: {_reason(error)} "
            "(RE2 has neither look-around nor back-references)"
        )
        raise ValueError(message) from error
    if compiled.programsize <= _NOTHING_MATCHES:
        message = f"the expression {source!r} can match nothing"
        raise ValueError(message)
    return Expression(source)


def matches_any(patterns: Sequence[TextPattern | PathPattern], subject: Subject) -> bool:
    """Tell whether one of the patterns matches."""
    return any(pattern.matches(subject) for pattern in patterns)


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(error)


def _encodable(text: str) -> str:
    # RE2 works on UTF-8, which has no lone surrogates.
    return text.encode(errors="replace").decode()


@lru_cache(maxsize=1024)
def _compile(source: str) -> Any:  # noqa: ANN401 - the binding has no types
    options = _options()
    options.case_sensitive = False
    return re2.compile(source, options)


@lru_cache(maxsize=1024)
def _compile_glob(pattern: str) -> Any:  # noqa: ANN401 - the binding has no types
    options = _options()
    options.dot_nl = True
    return re2.compile(glob_expression(pattern), options)


def _options() -> Any:  # noqa: ANN401 - the binding has no types
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    return options
