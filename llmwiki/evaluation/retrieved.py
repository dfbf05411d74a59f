"""What an evaluation sees of one retrieval, and how it asks for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from llmwiki.domain import ChunkId, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChunk:
    """A chunk at its place in the final order."""

    chunk_id: ChunkId
    document_path: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A chunk of a family whose plan asks for an authority, reserved for it or found anyway."""

    family: str
    authority_met: bool
    """Its document is at or above the plan's authority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The outcome of one question."""

    chunks: tuple[RankedChunk, ...]
    """The final order, after reranking and reservation."""
    documents: frozenset[str]
    """Paths of all documents in the context, those that pages of the wiki added among them."""
    automatic_families: tuple[str, ...] = ()
    """Families that no plan declares: they were read off the question."""
    witnesses: tuple[Witness, ...] = ()
    usage: Usage = field(default_factory=Usage)
    events: tuple[Mapping[str, Any], ...] = ()
    problem: str | None = None
    """Why the question could not be asked at all; then everything else is empty."""


class Retriever(Protocol):
    """Answers a question with at most so many chunks."""

    def __call__(self, question: str, *, limit: int) -> Retrieved:
        """Return the best chunks; what cannot be asked comes back with its problem."""
        ...
