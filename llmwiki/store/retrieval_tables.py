"""The tables of questions: kept answers, the statistics of words, and the corpus's names."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Integer, PrimaryKeyConstraint, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.base_table import Base, collection_column, key_column


class KeptAnswerTable(Base):
    """What a model answered, by what it was asked: (kind, hash of everything it depends on)."""

    __tablename__ = "kept_answer"
    __table_args__ = (Index(None, "expires_at"),)

    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime]


class TermTable(Base):
    """How many chunks of a collection hold a lexeme; kept by triggers on ``chunk``."""

    __tablename__ = "term"

    collection_id: Mapped[int] = mapped_column(
        ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True
    )
    lexeme: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)
    frequency: Mapped[int]


class PostingTable(Base):
    """How often a chunk holds a lexeme; kept by triggers on ``chunk``.

    Everything that a score takes stands in the index, so that the table is hardly ever read.
    No foreign keys: at sixty rows a chunk they would cost more than the rows.
    """

    __tablename__ = "posting"
    __table_args__ = (
        PrimaryKeyConstraint(
            "collection_id", "lexeme", "chunk_id", postgresql_include=["frequency", "length"]
        ),
    )

    collection_id: Mapped[int]
    lexeme: Mapped[str] = mapped_column(Text(collation="C"))
    chunk_id: Mapped[int]
    frequency: Mapped[int] = mapped_column(Integer)
    length: Mapped[int] = mapped_column(Integer)
    """Of the chunk: its lexemes, each as often as it occurs."""


class CorpusExtentTable(Base):
    """How many chunks a collection has, and how long they are together.

    Kept by triggers on ``chunk``, which hold its row from the first change of a collection's
    chunks to the end of the transaction: the figures of one collection change one by one.
    """

    __tablename__ = "corpus_extent"

    collection_id: Mapped[int] = mapped_column(
        ForeignKey("collection.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    chunks: Mapped[int]
    length: Mapped[int]


class CorpusNameTable(Base):
    """What people call parts of the corpus; kept by triggers on ``document`` and ``chunk``."""

    __tablename__ = "corpus_name"
    __table_args__ = (
        Index(None, "collection_id", "key", "kind"),
        Index(None, "document_id"),
        Index(None, "section_id"),
    )

    id: Mapped[int] = key_column()
    collection_id: Mapped[int] = collection_column()
    key: Mapped[str] = mapped_column(Text(collation="C"))
    """The name's lexemes in their order, between blanks."""
    kind: Mapped[str]
    """``title``, ``heading`` or ``family``."""
    name: Mapped[str]
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id", ondelete="CASCADE"))
    section_id: Mapped[int | None] = mapped_column(ForeignKey("chunk.id", ondelete="CASCADE"))
    """Of a heading; the sections below it belong to it too."""
