"""Candidates: chunks on their way from the tiers to the context."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmwiki.domain import ChunkId
from llmwiki.store.found_chunks import FoundChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk with the score that orders it now, and the one that the fusion gave it."""

    chunk: FoundChunk
    score: float
    fused_score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    """Its rank in each tier that found it, from 1."""

    @property
    def id(self) -> ChunkId:
        """The chunk's id."""
        return self.chunk.id
