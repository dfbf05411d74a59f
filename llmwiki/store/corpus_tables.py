"""The tables of the corpus: documents, their chunks and vectors, and the topics."""

from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import ForeignKey, Index, Integer, UniqueConstraint, func
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.base_table import Base, collection_column, key_column


class CollectionTable(Base):
    """A corpus with one owner, and the vector space that its embeddings live in."""

    __tablename__ = "collection"
    __table_args__ = (UniqueConstraint("owner", "name"),)

    id: Mapped[int] = key_column()
    name: Mapped[str]
    owner: Mapped[str]
    text_search_config: Mapped[str] = mapped_column(server_default="english")
    embedder: Mapped[str]
    dimension: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ingested_at: Mapped[datetime | None]
    promoted_at: Mapped[datetime | None]
    """Since when the wiki may lead, while its lint is recent and green."""
    evidence_levels: Mapped[dict[str, Any] | None]
    """What scores mean in this corpus, calibrated at ingest."""


class DocumentTable(Base):
    """One source file. ``fingerprint`` covers its bytes, its metadata and the parser."""

    __tablename__ = "document"
    __table_args__ = (UniqueConstraint("collection_id", "path"),)

    id: Mapped[int] = key_column()
    collection_id: Mapped[int] = collection_column()
    path: Mapped[str]
    title: Mapped[str]
    fingerprint: Mapped[str]
    byte_size: Mapped[int]
    attributes: Mapped[dict[str, Any]] = mapped_column(server_default=sql("'{}'"))
    evidence_family: Mapped[str | None]
    authority_tier: Mapped[str | None]
    version: Mapped[str | None]
    ingested_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ChunkTable(Base):
    """A section (no parent) or a chunk of one (``parent_id``); chunks are retrieved."""

    __tablename__ = "chunk"
    __table_args__ = (
        Index(None, "document_id"),
        Index(None, "parent_id"),
        Index(None, "collection_id", "embedding_hash"),
        Index("chunk_identifiers_idx", "identifiers", postgresql_using="gin"),
    )

    id: Mapped[int] = key_column()
    collection_id: Mapped[int] = collection_column()
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id", ondelete="CASCADE"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("chunk.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    breadcrumb: Mapped[list[str]]
    text: Mapped[str]
    content_hash: Mapped[str]
    token_count: Mapped[int] = mapped_column(Integer)
    embedding_hash: Mapped[str | None]
    identifiers: Mapped[list[str]] = mapped_column(server_default=sql("'{}'"))
    lexemes: Mapped[Any | None] = mapped_column(TSVECTOR)


class EmbeddingTable(Base):
    """Vectors by the hash of the text that was embedded, so that a move or a revert is free."""

    __tablename__ = "embedding"

    collection_id: Mapped[int] = mapped_column(
        ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True
    )
    embedder: Mapped[str] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(primary_key=True)
    vector: Mapped[Any] = mapped_column(Vector())


class TopicTable(Base):
    """An entry of the table of contents. A topic that is gone is retired, its key kept."""

    __tablename__ = "topic"
    __table_args__ = (UniqueConstraint("collection_id", "key"),)

    id: Mapped[int] = key_column()
    collection_id: Mapped[int] = collection_column()
    key: Mapped[str]
    title: Mapped[str]
    folder: Mapped[str]
    position: Mapped[int] = mapped_column(Integer)
    retired_at: Mapped[datetime | None]


class TopicChunkTable(Base):
    """The current edges: each chunk belongs to one topic."""

    __tablename__ = "topic_chunk"
    __table_args__ = (Index(None, "topic_id"), Index(None, "collection_id"))

    chunk_id: Mapped[int] = mapped_column(
        ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id", ondelete="CASCADE"))
    collection_id: Mapped[int] = collection_column()
    position: Mapped[int] = mapped_column(Integer)
