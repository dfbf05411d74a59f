"""The compile queue: stale pages, claimed oldest first under a lease with a fencing token."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, CollectionId, PageId, StaleReason, Topic, TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedPage:
    """A stale page with what decides whether it needs a compile at all."""

    page_id: PageId
    topic: Topic
    source_hash: str | None
    recipe_hash: str | None
    title_at_compile: str | None
    generator_kind: str | None
    text_length: int
    """Characters of its statements, without footnotes; 0 before the first text."""
    reasons: tuple[StaleReason, ...]
    stale_since: datetime
    tokens: int
    """Tokens of the topic's chunks now."""
    attempts: int
    """Failures since its last text."""
    lease_token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How the queue stands. A page can wait for its retry, its lease, or a person."""

    stale: int
    quarantined: int
    waiting: int
    leased: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """Which of the waiting pages a generator may take."""

    may_replace_model: bool
    """Whether pages that a model wrote are among them."""
    outdated_text_only: bool = False
    """Leave out pages that are stale for nothing but their recipe."""
    only: PageId | None = None
    """Nothing but this page."""


_WAITING = """
    p.stale AND p.retired_at IS NULL AND p.quarantined_at IS NULL
    AND (p.not_before IS NULL OR p.not_before <= now())
    AND (p.lease_until IS NULL OR p.lease_until <= now())
    AND p.collection_id = ANY(:collections)
    AND (:may_replace_model OR p.generator_kind IS DISTINCT FROM 'model')
    AND (NOT :outdated_text_only OR p.stale_reasons <> ARRAY['recipe'])
    AND (CAST(:only AS bigint) IS NULL OR p.id = :only)
"""

_COLUMNS = """
    p.id, p.collection_id, p.slug, p.source_hash, p.recipe_hash, p.generator_kind,
    p.topic_title_at_compile,
    (SELECT coalesce(sum(length(s.text)), 0)
     FROM statement s WHERE s.page_id = p.id AND s.role = 'body') AS text_length,
    p.stale_reasons, p.stale_since, p.attempts, p.lease_token,
    t.id AS topic_id, t.key, t.title,
    (SELECT coalesce(sum(c.token_count), 0)
     FROM topic_chunk tc JOIN chunk c ON c.id = tc.chunk_id
     WHERE tc.topic_id = t.id) AS tokens
"""

# A page that failed takes its place anew when it may be tried again: those that waited longer
# go before it, so that it never eats their calls, and those that come later do not overtake it.
_PLACE = "greatest(p.stale_since, p.not_before), p.id"

_CLAIM = f"""
WITH next AS (
    SELECT p.id FROM page p
    WHERE {_WAITING}
    ORDER BY {_PLACE}
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE page
    SET lease_token = lease_token + 1, lease_until = now() + :lease
    FROM next WHERE page.id = next.id
    RETURNING page.*
)
SELECT {_COLUMNS}
FROM claimed p JOIN topic t ON t.id = p.topic_id
ORDER BY {_PLACE}
"""  # noqa: S608 - composed of constants

_PEEK = f"""
SELECT {_COLUMNS}
FROM page p JOIN topic t ON t.id = p.topic_id
WHERE {_WAITING}
ORDER BY {_PLACE}
"""  # noqa: S608 - composed of constants


def claim(
    connection: Connection,
    collections: Iterable[Collection],
    *,
    limit: int,
    lease: timedelta,
    which: QueueFilter,
) -> list[QueuedPage]:
    """Lease up to ``limit`` pages, oldest first; commit at once, before any call.

    Each claim raises the page's token, so a worker that lost its lease cannot write any more.
    """
    rows = connection.execute(
        text(_CLAIM),
        {
            "collections": [collection.id for collection in collections],
            "limit": limit,
            "lease": lease,
            **asdict(which),
        },
    )
    return [_queued(row) for row in rows]


def peek(
    connection: Connection, collections: Iterable[Collection], which: QueueFilter
) -> list[QueuedPage]:
    """Return the pages that could be claimed now, in the order of claiming."""
    rows = connection.execute(
        text(_PEEK),
        {
            "collections": [collection.id for collection in collections],
            **asdict(which),
        },
    )
    return [_queued(row) for row in rows]


def request(connection: Connection, page_id: PageId) -> None:
    """Queue a page although its sources did not move: its recipe counts as unknown."""
    connection.execute(
        text(
            """
            UPDATE page
            SET recipe_hash = NULL, stale = true, stale_since = coalesce(stale_since, now()),
                stale_reasons = CASE WHEN compiled_at IS NULL OR 'recipe' = ANY(stale_reasons)
                                     THEN stale_reasons
                                     ELSE array_append(stale_reasons, 'recipe') END,
                attempts = 0, not_before = NULL, quarantined_at = NULL, quarantined_edges = NULL
            WHERE id = :page AND retired_at IS NULL
            """
        ),
        {"page": page_id},
    )


def count_queue(connection: Connection, collections: Iterable[Collection]) -> QueueCounts:
    """Count the stale pages of the collections, and why some of them wait."""
    row = connection.execute(
        text(
            """
            SELECT count(*) AS stale,
                   count(*) FILTER (WHERE quarantined_at IS NOT NULL) AS quarantined,
                   count(*) FILTER (WHERE not_before > now()) AS waiting,
                   count(*) FILTER (WHERE lease_until > now()) AS leased
            FROM page
            WHERE stale AND retired_at IS NULL AND collection_id = ANY(:collections)
            """
        ),
        {"collections": [collection.id for collection in collections]},
    ).one()
    return QueueCounts(
        stale=row.stale, quarantined=row.quarantined, waiting=row.waiting, leased=row.leased
    )


def _queued(row: Any) -> QueuedPage:  # noqa: ANN401 - a row of a textual query has no type
    return QueuedPage(
        page_id=PageId(row.id),
        topic=Topic(
            id=TopicId(row.topic_id),
            collection_id=CollectionId(row.collection_id),
            key=row.key,
            title=row.title,
        ),
        source_hash=row.source_hash,
        recipe_hash=row.recipe_hash,
        title_at_compile=row.topic_title_at_compile,
        generator_kind=row.generator_kind,
        text_length=row.text_length,
        reasons=tuple(row.stale_reasons),
        stale_since=row.stale_since,
        tokens=row.tokens,
        attempts=row.attempts,
        lease_token=row.lease_token,
    )
