"""The tables of the jobs: runs and their records, findings, leases, budgets and calls."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import Date, ForeignKey, Index, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.base_table import Base, collection_column, key_column


class RunTable(Base):
    """One run of a job, inserted at its start. An old heartbeat without an end is a dead run."""

    __tablename__ = "run"
    __table_args__ = (Index(None, "job", "started_at"),)

    id: Mapped[int] = key_column()
    job: Mapped[str]
    arguments: Mapped[dict[str, Any]]
    host: Mapped[str]
    process_id: Mapped[int] = mapped_column(Integer)
    started_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    heartbeat_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    finished_at: Mapped[datetime | None]
    exit_code: Mapped[int | None] = mapped_column(Integer)


class RecordTable(Base):
    """What a job did: ``drift-sweep``, ``compile``, ``compile-batch`` or ``lint``."""

    __tablename__ = "record"
    __table_args__ = (Index(None, "run_id"), Index(None, "kind", "created_at"))

    id: Mapped[int] = key_column()
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    kind: Mapped[str]
    collection_id: Mapped[int | None] = mapped_column(
        ForeignKey("collection.id", ondelete="CASCADE")
    )
    page_id: Mapped[int | None] = mapped_column(ForeignKey("page.id", ondelete="CASCADE"))
    payload: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class FindingTable(Base):
    """What lint found, by run."""

    __tablename__ = "finding"
    __table_args__ = (Index(None, "run_id"),)

    id: Mapped[int] = key_column()
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    collection_id: Mapped[int] = collection_column()
    page_id: Mapped[int | None] = mapped_column(ForeignKey("page.id", ondelete="CASCADE"))
    code: Mapped[str]
    severity: Mapped[str]
    message: Mapped[str]


class JobLeaseTable(Base):
    """Keeps a second run of a job out. Correctness never depends on it."""

    __tablename__ = "job_lease"

    job: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    expires_at: Mapped[datetime]


class BudgetDayTable(Base):
    """Units of a budget that were taken on one day of the provider's calendar."""

    __tablename__ = "budget_day"

    budget: Mapped[str] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    used: Mapped[int] = mapped_column(Integer)


class CallTable(Base):
    """One HTTP attempt, reserved before it was sent. Unsettled means spent, outcome unknown."""

    __tablename__ = "call"
    __table_args__ = (Index(None, "budget", "day"),)

    id: Mapped[int] = key_column()
    budget: Mapped[str]
    day: Mapped[date] = mapped_column(Date)
    purpose: Mapped[str]
    subject: Mapped[str]
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id", ondelete="SET NULL"))
    reserved_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    settled_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    http_status: Mapped[int | None] = mapped_column(Integer)
    input_tokens: Mapped[int] = mapped_column(Integer, server_default="0")
    output_tokens: Mapped[int] = mapped_column(Integer, server_default="0")
