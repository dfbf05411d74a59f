"""Frozen values that the features exchange. No behaviour beyond what follows from the fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NewType, TypedDict

CollectionId = NewType("CollectionId", int)
DocumentId = NewType("DocumentId", int)
ChunkId = NewType("ChunkId", int)
TopicId = NewType("TopicId", int)
PageId = NewType("PageId", int)
RunId = NewType("RunId", int)

PageKind = Literal["page", "overview"]
"""``page`` is compiled from one topic; ``overview`` is the table of contents."""

StaleReason = Literal["never-compiled", "content", "added", "removed", "recipe"]
"""Why a page no longer says what its sources say."""

StatementKind = Literal["prose", "code", "table"]

GeneratorKind = Literal["extractive", "model"]

StoppedReason = Literal["budget", "quota", "outage", "deadline", "done"]
"""Why a drain ended: our cap, the provider's, a provider that is down, time, or an empty queue."""

Severity = Literal["error", "warning"]

RecordKind = Literal["drift-sweep", "compile", "compile-batch", "lint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderIdentity:
    """Names a vector space: vectors of two identities must never be compared."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A corpus with one owner; everything else belongs to exactly one collection."""

    id: CollectionId
    name: str
    owner: str
    embedder: EmbedderIdentity
    text_search_config: str = "english"
    """The PostgreSQL configuration that its lexemes are made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChunk:
    """A child chunk as the compiler, the gate and retrieval see it."""

    id: ChunkId
    document_path: str
    breadcrumb: tuple[str, ...]
    """Headings from the document's title down to the chunk's own section."""
    text: str
    content_hash: str
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One entry of the table of contents: the chunks of one future page."""

    id: TopicId
    collection_id: CollectionId
    key: str
    """Slug of its page; given once, kept through additions, edits and moves."""
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSources:
    """A topic with everything that a generator may use to write its page, in reading order."""

    topic: Topic
    chunks: tuple[SourceChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The unit of citation: one sentence, code block or table, and the chunks it came from."""

    text: str
    chunk_ids: tuple[ChunkId, ...]
    kind: StatementKind = "prose"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A heading and its statements; the heading is empty for the text before the first one."""

    heading: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDraft:
    """What a generator wrote for one topic, before the gate."""

    title: str
    tldr: Statement
    tags: tuple[str, ...]
    sections: tuple[PageSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens that a step spent. A call is one HTTP attempt."""

    chat_calls: int = 0
    embed_calls: int = 0
    rerank_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            chat_calls=self.chat_calls + other.chat_calls,
            embed_calls=self.embed_calls + other.embed_calls,
            rerank_calls=self.rerank_calls + other.rerank_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The answer to one pack: drafts by topic; a topic that is missing was not answered."""

    drafts: Mapping[TopicId, PageDraft]
    problems: Mapping[TopicId, str] = field(default_factory=dict)
    """Why a topic of the pack has no draft, where the generator knows."""
    usage: Usage = field(default_factory=Usage)
    truncated: bool = False
    """The service stopped for length; the drafts present are whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorIdentity:
    """What of the generator goes into a page's recipe."""

    kind: GeneratorKind
    name: str
    """Provider and model, as ``extractive`` or ``openai:gpt-5-mini``."""
    version: str
    """Changes when prompt, schema or algorithm change, so that pages are written anew."""


RerankMethod = Literal["cross-encoder", "cohere", "voyage", "jina"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerIdentity:
    """Names what scored; scores of two identities must never be compared."""

    method: RerankMethod
    name: str
    """The model."""

    @property
    def subject(self) -> str:
        """How the subjects of its calls begin in the ledger."""
        return f"{self.method} {self.name}: "


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankScores:
    """What a reranker answered: (index of the text, score) as it came, unchecked."""

    scores: tuple[tuple[int, float], ...]
    usage: "Usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation that lint found; the message ends with the remedy."""

    code: str
    severity: Severity
    message: str
    collection_id: CollectionId
    page_id: PageId | None = None
    slug: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """One budget on one day, by the provider's calendar."""

    name: str
    day: str
    used: int
    cap: int
    resets_at: datetime

    @property
    def remaining(self) -> int:
        """Calls left before the ledger refuses."""
        return max(0, self.cap - self.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a job did: ``kind`` and a payload in the field names of the specification."""

    kind: RecordKind
    payload: Mapping[str, Any]
    collection_id: CollectionId | None = None
    page_id: PageId | None = None


class Message(TypedDict):
    """One message of a conversation with a model."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What a model wrote, possibly cut off: the caller decides by ``finish_reason``."""

    text: str
    finish_reason: str
    usage: Usage
    model: str
    """What the service says that it used."""
