"""What the chunker makes of a document. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A child chunk: the unit of retrieval and of citation."""

    text: str
    content_hash: str
    """Over the section's own heading and the normalised text."""
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedSection:
    """A parent chunk with its children in reading order."""

    path: tuple[str, ...]
    text: str
    content_hash: str
    token_count: int
    chunks: tuple[Chunk, ...]
