"""The context: what a reader or a model gets to see of what was found for a question."""

from dataclasses import dataclass
from typing import Literal

from llmwiki.domain import ChunkId, Usage
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Event
from llmwiki.retrieval.question import Route
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.found_chunks import FoundChunk
from llmwiki.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDetail(Detail):
    """What went into the context."""

    kind: Literal["context"] = "context"
    chunks: int
    surroundings: int
    """Chunks that no tier found, shown since they stand beside one that was found."""
    pages: int
    tokens: int
    token_budget: int
    cut: int
    """Chunks that the budget had no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """Neighbouring chunks of one section as one text, with the citation that it is known by."""

    number: int
    """By which answers cite it, from 1."""
    chunks: tuple[FoundChunk, ...]
    """In reading order."""
    score: float
    found_by: tuple[str, ...]
    """The tiers that found a chunk of it; ``page`` where the wiki led to it, ``rescue`` where the
    search for a family did."""
    table_header: str = ""
    """Of the table in whose middle the text begins; shown above the text, and no part of it."""

    @property
    def text(self) -> str:
        """The chunks joined."""
        return "\n\n".join(chunk.text for chunk in self.chunks)

    @property
    def readable(self) -> str:
        """The text as a reader or a model needs it: below the header of its table, if torn off."""
        return "\n\n".join(map(self.readable_text, self.chunks))

    def readable_text(self, chunk: FoundChunk) -> str:
        """Return the text of one of the chunks, the first one's below the header."""
        torn = self.table_header and chunk.id == self.first.id
        return f"{self.table_header}\n{chunk.text}" if torn else chunk.text

    @property
    def first(self) -> FoundChunk:
        """The chunk that the block's place is told by."""
        return self.chunks[0]

    @property
    def chunk_ids(self) -> tuple[ChunkId, ...]:
        """The chunks' ids."""
        return tuple(chunk.id for chunk in self.chunks)

    @property
    def tokens(self) -> int:
        """The chunks' tokens, and those of the header."""
        return count_tokens(self.table_header) + sum(each.token_count for each in self.chunks)

    @property
    def citation(self) -> str:
        """The document and the headings above the text."""
        return " > ".join((self.first.document_path, *self.first.breadcrumb))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything that was retrieved for one question."""

    question: str
    route: Route
    embed_query: str
    """What was embedded: the question, or its general form."""
    rerank_query: str
    """What relevance was judged by: always the question."""
    ranking: tuple[Candidate, ...]
    """The chunks that answer best, after reranking and reservation; at most ``limit``."""
    witnesses: frozenset[ChunkId]
    """Those of the ranking that required kinds of evidence rest on."""
    blocks: tuple[ContextBlock, ...]
    pages: tuple[ContextPage, ...]
    anchors: tuple[Anchor, ...]
    """The overviews, for a broad question."""
    has_evidence: bool
    """False when nothing in the corpus speaks of what was asked."""
    missing_families: tuple[str, ...]
    """Kinds of evidence that the question needs and the corpus did not give."""
    tokens: int
    events: tuple[Event, ...]

    @property
    def usage(self) -> Usage:
        """What the steps spent."""
        return sum((event.usage for event in self.events), start=Usage())
