"""What a parser makes of a file. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

PARSER_VERSION = "2"
"""Part of a document's fingerprint: raise it when parsing or chunking change their results."""

BlockKind = Literal["paragraph", "list", "code", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The smallest piece that a chunk is made of; cut only where it exceeds a chunk by itself."""

    kind: BlockKind
    text: str
    """Readable plain text. Inline code keeps its backticks and links to the web their address;
    other inline markup goes. ``code`` carries its fence lines, ``table`` its rows in GFM form,
    ``list`` one line an item."""
    header: str = ""
    """First lines of ``text`` that each part repeats when a table is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The text directly under one heading, without that of deeper headings."""

    path: tuple[str, ...]
    """Headings from the outermost down to the section's own; empty before the first one."""
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A document in reading order, whatever its format was."""

    title: str
    """From front matter, else the only top heading, else the first heading, else the file name."""
    sections: tuple[Section, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Front matter, as JSON values."""
