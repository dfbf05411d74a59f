"""Shortens statements for messages."""

from llmwiki.text.hashing import normalise

_LENGTH = 80


def excerpt(text: str) -> str:
    """Return the beginning of the text on one line, in quotation marks."""
    line = normalise(text)
    return f"“{line}”" if len(line) <= _LENGTH else f"“{line[:_LENGTH].rstrip()}…”"
