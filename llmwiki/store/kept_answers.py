"""Answers of models that are kept for a while, so that a question asked again costs no call.

The key is a hash of everything that the answer depends on, so nothing is ever invalidated: a
corpus, a prompt or a model that changed asks under another key. Time is the database's.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import Connection, text

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
