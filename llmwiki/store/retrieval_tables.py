"""The tables of questions: answers of models that are kept for a while."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, func
from sqlalchemy.orm import Mapped, mapped_column

from llmwiki.store.tables import Base


class KeptAnswerTable(Base):
    """What a model answered, by what it was asked: (kind, hash of everything it depends on)."""

    __tablename__ = "kept_answer"
    __table_args__ = (Index(None, "expires_at"),)

    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime]
