"""The context: what a reader or a model gets to see of what was found for a question."""

from dataclasses import dataclass
from typing import Literal

from llmwiki.domain import ChunkId, Usage
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Event
from llmwiki.retrieval.question import Route
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.passages import Passage
from llmwiki.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDetail(Detail):
    """What went into the context."""

    kind: Literal["context"] = "context"
    passages: int
    surroundings: int
    """Passages that no tier found, shown since they stand beside one that was found."""
    pages: int
    tokens: int
    token_budget: int
    cut: int
    """Passages that the budget had no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """Neighbouring passages of one section as one text, with the citation that it is known by."""

    number: int
    """By which answers cite it, from 1."""
    passages: tuple[Passage, ...]
    """In reading order."""
    score: float
    found_by: tuple[str, ...]
    """The tiers that found a passage of it; ``page`` where the wiki led to it, ``rescue`` where the
    search for a family did."""
    table_header: str = ""
    """Of the table in whose middle the text begins; shown above the text, and no part of it."""

    @property
    def text(self) -> str:
        """The passages joined."""
        return "\n\n".join(passage.text for passage in self.passages)

    @property
    def readable(self) -> str:
        """The text as a reader or a model needs it: below the header of its table, if torn off."""
        return "\n\n".join(map(self.readable_text, self.passages))

    def readable_text(self, passage: Passage) -> str:
        """Return the text of one of the passages, the first one's below the header."""
        torn = self.table_header and passage.id == self.first.id
        return f"{self.table_header}\n{passage.text}" if torn else passage.text

    @property
    def first(self) -> Passage:
        """The passage that the block's place is told by."""
        return self.passages[0]

    @property
    def chunk_ids(self) -> tuple[ChunkId, ...]:
        """The passages' ids."""
        return tuple(passage.id for passage in self.passages)

    @property
    def tokens(self) -> int:
        """The passages' tokens, and those of the header."""
        return count_tokens(self.table_header) + sum(each.token_count for each in self.passages)

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
    """The passages that answer best, after reranking and reservation; at most ``limit``."""
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
