"""The tables of the batch service: what was sent in one file, and what came of each request."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.base_table import Base, key_column


class BatchTable(Base):
    """One file of requests. Its row is committed before anything of it leaves the house."""

    __tablename__ = "batch"
    __table_args__ = (
        CheckConstraint(
            "state IN ('submitting', 'submitted', 'collected', 'failed')", name="state"
        ),
        Index("batch_open_idx", "id", postgresql_where=sql("finished_at IS NULL")),
    )

    id: Mapped[int] = key_column()
    token: Mapped[str] = mapped_column(unique=True)
    """Ours, unguessable: finds the file and the batch of an interrupted submit again."""
    collection_ids: Mapped[list[int]]
    worker_run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id", ondelete="SET NULL"))
    """The run that worked on it last; while that one is alive, no other may."""
    service: Mapped[str]
    """Address of the service; ids of one mean nothing to another."""
    generator: Mapped[dict[str, Any]]
    """Identity of the generator that the requests were made for."""
    state: Mapped[str]
    input_file_id: Mapped[str | None]
    service_batch_id: Mapped[str | None]
    service_status: Mapped[str | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    finished_at: Mapped[datetime | None]


class BatchRequestTable(Base):
    """One request with its pages as sent. What was sent is emptied once it is answered."""

    __tablename__ = "batch_request"
    __table_args__ = (UniqueConstraint("batch_id", "custom_id"), Index(None, "call_id"))

    id: Mapped[int] = key_column()
    batch_id: Mapped[int] = mapped_column(ForeignKey("batch.id", ondelete="CASCADE"))
    custom_id: Mapped[str]
    call_id: Mapped[int | None] = mapped_column(ForeignKey("call.id", ondelete="SET NULL"))
    line: Mapped[str]
    """Its line of the file. Not JSONB, which would change the order of the schema's keys."""
    pages: Mapped[list[Any]] = mapped_column(JSONB)
    page_count: Mapped[int]
    outcome: Mapped[str | None]
