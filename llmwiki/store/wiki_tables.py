"""The tables of the wiki: pages with their statements, edges, links and revisions."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, UniqueConstraint, func
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.base_table import Base, collection_column, key_column


class PageTable(Base):
    """A page of the wiki with its place in the compile queue. Not compiled yet: no revision."""

    __tablename__ = "page"
    __table_args__ = (
        UniqueConstraint("collection_id", "slug"),
        CheckConstraint("(kind = 'page') = (topic_id IS NOT NULL)", name="topic"),
        CheckConstraint("(pinned_at IS NULL) = (pinned_edges IS NULL)", name="pin"),
        Index("page_stale_idx", "stale_since", "id", postgresql_where=sql("stale")),
        Index("page_search_vector_idx", "search_vector", postgresql_using="gin"),
    )

    id: Mapped[int] = key_column()
    collection_id: Mapped[int] = collection_column()
    topic_id: Mapped[int | None] = mapped_column(
        ForeignKey("topic.id", ondelete="CASCADE"), unique=True
    )
    kind: Mapped[str]
    slug: Mapped[str]
    title: Mapped[str] = mapped_column(server_default="")
    topic_title_at_compile: Mapped[str | None]
    tldr: Mapped[str] = mapped_column(server_default="")
    tags: Mapped[list[str]] = mapped_column(server_default=sql("'{}'"))
    body: Mapped[str] = mapped_column(server_default="")
    search_vector: Mapped[Any | None] = mapped_column(TSVECTOR)
    embedding_hash: Mapped[str | None]
    source_count: Mapped[int] = mapped_column(Integer, server_default="0")
    source_hash: Mapped[str | None]
    recipe_hash: Mapped[str | None]
    generator_kind: Mapped[str | None]
    generator: Mapped[str | None]
    revision: Mapped[int] = mapped_column(Integer, server_default="0")
    compiled_at: Mapped[datetime | None]
    stale: Mapped[bool] = mapped_column(server_default=sql("false"))
    stale_reasons: Mapped[list[str]] = mapped_column(server_default=sql("'{}'"))
    stale_since: Mapped[datetime | None]
    retired_at: Mapped[datetime | None]
    lease_token: Mapped[int] = mapped_column(server_default="0")
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(Integer, server_default="0")
    not_before: Mapped[datetime | None]
    last_error: Mapped[str | None]
    quarantined_at: Mapped[datetime | None]
    quarantined_edges: Mapped[str | None]
    """The topic's edges, as pins.py hashes them, that the page failed on."""
    pinned_at: Mapped[datetime | None]
    pinned_edges: Mapped[str | None]
    """The topic's edges when the page was pinned: while they are the same the pin holds."""


class PageSourceTable(Base):
    """The edges as compiled. No foreign key to the chunk: its removal must stay visible."""

    __tablename__ = "page_source"
    __table_args__ = (Index(None, "chunk_id"),)

    page_id: Mapped[int] = mapped_column(
        ForeignKey("page.id", ondelete="CASCADE"), primary_key=True
    )
    chunk_id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = collection_column()
    position: Mapped[int] = mapped_column(Integer)
    source_hash_at_compile: Mapped[str]


class StatementTable(Base):
    """A statement of a page's current revision, with the chunks that it cites."""

    __tablename__ = "statement"
    __table_args__ = (
        UniqueConstraint("page_id", "position"),
        Index("statement_chunk_ids_idx", "chunk_ids", postgresql_using="gin"),
    )

    id: Mapped[int] = key_column()
    page_id: Mapped[int] = mapped_column(ForeignKey("page.id", ondelete="CASCADE"))
    collection_id: Mapped[int] = collection_column()
    position: Mapped[int] = mapped_column(Integer)
    role: Mapped[str]
    """``tldr`` or ``body``."""
    section_position: Mapped[int] = mapped_column(Integer)
    heading: Mapped[str]
    kind: Mapped[str]
    text: Mapped[str]
    chunk_ids: Mapped[list[int]]


class PageLinkTable(Base):
    """Links between pages, kept by the overview: from the contents, and between siblings."""

    __tablename__ = "page_link"
    __table_args__ = (Index(None, "target_page_id"),)

    page_id: Mapped[int] = mapped_column(
        ForeignKey("page.id", ondelete="CASCADE"), primary_key=True
    )
    target_page_id: Mapped[int] = mapped_column(
        ForeignKey("page.id", ondelete="CASCADE"), primary_key=True
    )
    collection_id: Mapped[int] = collection_column()
    kind: Mapped[str]
    """``contents`` or ``sibling``."""
    position: Mapped[int] = mapped_column(Integer)


class PageRevisionTable(Base):
    """The last revisions of a page, whole, the current one included."""

    __tablename__ = "page_revision"

    page_id: Mapped[int] = mapped_column(
        ForeignKey("page.id", ondelete="CASCADE"), primary_key=True
    )
    revision: Mapped[int] = mapped_column(Integer, primary_key=True)
    collection_id: Mapped[int] = collection_column()
    compiled_at: Mapped[datetime]
    content: Mapped[dict[str, Any]]
    """Everything that rolling back to it takes: text, statements, edges, who wrote it."""


class RefusedDraftTable(Base):
    """A draft that the gate refused, kept for a person to look at."""

    __tablename__ = "refused_draft"
    __table_args__ = (Index(None, "page_id"),)

    id: Mapped[int] = key_column()
    page_id: Mapped[int] = mapped_column(ForeignKey("page.id", ondelete="CASCADE"))
    collection_id: Mapped[int] = collection_column()
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    generator: Mapped[str]
    refusal: Mapped[str]
    dropped: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    """Each statement that the gate took out: text, reason, detail."""
    content: Mapped[dict[str, Any]]
