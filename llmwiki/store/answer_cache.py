"""Answers of models that are kept for a while, so that a question asked again costs no call.

The key is a hash of everything that the answer depends on, so nothing is ever invalidated: a
corpus, a prompt or a model that changed asks under another key. Time is the database's.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import structlog
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

log = structlog.get_logger()

KeptKind = Literal["step-back", "rerank", "grade", "answer"]

_FIND = """
SELECT value FROM kept_answer
WHERE kind = :kind AND key = :key AND expires_at > clock_timestamp()
"""

_KEEP = """
INSERT INTO kept_answer (kind, key, value, expires_at)
VALUES (:kind, :key, CAST(:value AS jsonb),
        clock_timestamp() + least(CAST(:ttl AS interval), interval '100 years'))
ON CONFLICT (kind, key) DO UPDATE
SET value = excluded.value, created_at = clock_timestamp(), expires_at = excluded.expires_at
"""

_FORGET = """
DELETE FROM kept_answer WHERE (kind, key) IN (
    SELECT kind, key FROM kept_answer WHERE expires_at <= clock_timestamp()
    LIMIT 100 FOR UPDATE SKIP LOCKED
)
"""


def find_answer(connection: Connection, kind: KeptKind, key: str) -> dict[str, Any] | None:
    """Return the answer under the key, unless its time is over."""
    value: dict[str, Any] | None = connection.execute(
        text(_FIND), {"kind": kind, "key": key}
    ).scalar_one_or_none()
    return value


def keep_answer(
    connection: Connection, kind: KeptKind, key: str, value: Mapping[str, Any], *, ttl: timedelta
) -> None:
    """Keep an answer for so long, and forget some whose time is over."""
    if ttl <= timedelta(0):
        return
    connection.execute(
        text(_KEEP), {"kind": kind, "key": key, "value": json.dumps(value), "ttl": ttl}
    )
    connection.execute(text(_FORGET))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswers:
    """The answers of one kind, for a question that can do without them.

    What is kept saves calls; that it cannot be read or written is logged, and is no reason to
    fail. Each look-up has a connection of its own, so that no transaction stays open.
    """

    engine: Engine
    kind: KeptKind
    ttl: timedelta

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the answer under the key; none where the database fails."""
        try:
            with self.engine.connect() as connection:
                return find_answer(connection, self.kind, key)
        except SQLAlchemyError as error:
            self._tell(error)
            return None

    def keep(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep an answer under the key, unless the database fails."""
        try:
            with self.engine.connect() as connection:
                keep_answer(connection, self.kind, key, value, ttl=self.ttl)
                connection.commit()
        except SQLAlchemyError as error:
            self._tell(error)

    def _tell(self, error: SQLAlchemyError) -> None:
        # The text of a driver's error holds the statement with all its parameters.
        log.warning("kept_answers.failed", kind=self.kind, error=type(error).__name__)
