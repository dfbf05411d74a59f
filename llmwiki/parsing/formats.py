"""Which file endings are documents, and of which format."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal

Format = Literal["Markdown", "reStructuredText", "plain text", "HTML", "PDF"]

FORMATS: Mapping[str, Format] = {
    ".markdown": "Markdown",
    ".md": "Markdown",
    ".mdx": "Markdown",
    ".rst": "reStructuredText",
    ".txt": "plain text",
    ".htm": "HTML",
    ".html": "HTML",
    ".pdf": "PDF",
}


def format_of(name: str) -> Format | None:
    """Return the format that the ending of a file's name stands for, in whatever case."""
    return FORMATS.get(PurePath(name).suffix.lower())
