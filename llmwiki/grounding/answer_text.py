"""Normal forms for the strings of an answer: texts, labels, kinds, fences."""

import re
from collections.abc import Collection, Iterator, Sequence

from llmwiki.domain import StatementKind

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
"""What PostgreSQL does not store, and what no reader sees."""
_LABEL = re.compile(r"(?<![A-Za-z0-9])[cC]0*([1-9]\d{0,5})(?![A-Za-z0-9])")
_BARE_NUMBERS = re.compile(r"[\s\[(]*[1-9]\d{0,5}(?:\s*[,;]\s*[1-9]\d{0,5})*[\s\])]*")
_MARKER = re.compile(r"[ \t]?(?:\[c\d{1,6}(?:, ?c\d{1,6})*\]|\(c\d{1,6}(?:, ?c\d{1,6})*\))")
_TOPIC = re.compile(r"[\s\[(]*[tT]?0*([1-9]\d{0,5})[\s\])]*")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TABLE_RULE = re.compile(r"[|:\s-]*-[|:\s-]*")
_LONGEST_TEXT = 50_000
"""Characters of one string that are kept; no page may have as many."""


def clean_text(value: object) -> str:
    """Return a string without characters that cannot be stored; empty for any other type."""
    if not isinstance(value, str):
        return ""
    text = value[:_LONGEST_TEXT].replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text).strip()


def topic_label(value: object) -> str:
    """Return the label of a topic as ``t1``, also from ``T1``, ``[t1]`` or 1; empty for none."""
    match = _TOPIC.fullmatch(_as_text(value))
    return f"t{match[1]}" if match else ""


def labels_in(value: object) -> Iterator[str]:
    """Yield the labels of chunks in any of the forms that models cite in.

    These are ``["c1", "c2"]``, ``"c1, c2"``, ``["[c1]"]``, ``["C1"]`` and ``[1]``.
    """
    for entry in value if isinstance(value, list) else [value]:
        text = _as_text(entry)
        if _BARE_NUMBERS.fullmatch(text):
            yield from (f"c{int(number)}" for number in re.findall(r"\d+", text))
        else:
            yield from (f"c{number}" for number in _LABEL.findall(text))


def without_markers(text: str, known: Collection[str]) -> tuple[str, list[str]]:
    """Take citations such as ``[c1]`` out of a text when all that they name is known."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        labels = list(labels_in(match[0]))
        if not all(label in known for label in labels):
            return match[0]
        found.extend(labels)
        return ""

    return _MARKER.sub(take, text).strip(), found


def statement_kind(value: object, text: str) -> StatementKind:
    """Return the kind that the text has; what was declared decides only where it is not seen."""
    lines = text.split("\n")
    if _is_fenced(lines):
        return "code"
    if _is_table(lines):
        return "table"
    declared = value.strip().casefold() if isinstance(value, str) else ""
    if declared == "code":
        return "code"
    return "table" if declared == "table" else "prose"


def with_fence(text: str) -> str:
    """Return code in a fence, which is closed or put around it where it has none."""
    if not text or _is_fenced(text.split("\n")):
        return text
    opened = _FENCE.match(text)
    if opened:
        return f"{text}\n{opened[0]}"
    fence = "`" * (1 + max(map(len, re.findall("`{3,}", text)), default=2))
    return f"{fence}\n{text}\n{fence}"


def _is_fenced(lines: Sequence[str]) -> bool:
    opened = _FENCE.match(lines[0])
    return opened is not None and len(lines) > 1 and lines[-1].strip() == opened[0]


def _is_table(lines: Sequence[str]) -> bool:
    rows = [line.strip() for line in lines]
    return (
        len(rows) > 1
        and all(row.startswith("|") for row in rows)
        and _TABLE_RULE.fullmatch(rows[1]) is not None
    )


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value[:10_000]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
