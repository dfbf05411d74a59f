"""How each collection stands, in figures: its documents, topics and pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from llmwiki.domain import Collection


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionStatus:
    """One collection in figures; pages count without the overview and without retired ones."""

    name: str
    owner: str
    embedder: str
    ingested_at: datetime | None
    documents: int
    chunks: int
    topics: int
    pages: int
    stale: int
    """Compiled pages that are stale; the others without a text are in ``never_compiled``."""
    never_compiled: int
    quarantined: int
    retired: int
    drafts: int
    """Pages whose text the extractive generator made."""
    by_model: int
    stale_since: datetime | None
    """Since when the oldest page waits."""
    reasons: Mapping[str, int]
    """Stale pages by reason; one page can have several."""


_COLLECTIONS = """
WITH wanted AS (SELECT * FROM collection WHERE id = ANY(:collections)),
corpus AS (
    SELECT collection_id,
           count(*) FILTER (WHERE parent_id IS NOT NULL) AS chunks
    FROM chunk WHERE collection_id = ANY(:collections) GROUP BY collection_id
),
documents AS (
    SELECT collection_id, count(*) AS documents
    FROM document WHERE collection_id = ANY(:collections) GROUP BY collection_id
),
topics AS (
    SELECT collection_id, count(*) AS topics
    FROM topic WHERE collection_id = ANY(:collections) AND retired_at IS NULL
    GROUP BY collection_id
),
pages AS (
    SELECT collection_id,
           count(*) FILTER (WHERE live) AS pages,
           count(*) FILTER (WHERE live AND stale AND compiled_at IS NOT NULL) AS stale,
           count(*) FILTER (WHERE live AND compiled_at IS NULL) AS never_compiled,
           count(*) FILTER (WHERE live AND quarantined_at IS NOT NULL) AS quarantined,
           count(*) FILTER (WHERE NOT live) AS retired,
           count(*) FILTER (WHERE live AND generator_kind = 'extractive') AS drafts,
           count(*) FILTER (WHERE live AND generator_kind = 'model') AS by_model,
           min(stale_since) FILTER (WHERE live) AS stale_since
    FROM (SELECT *, retired_at IS NULL AS live FROM page
          WHERE collection_id = ANY(:collections) AND kind = 'page') page
    GROUP BY collection_id
),
reasons AS (
    SELECT collection_id, jsonb_object_agg(reason, number) AS reasons
    FROM (SELECT collection_id, reason, count(*) AS number
          FROM page CROSS JOIN LATERAL unnest(stale_reasons) AS reason
          WHERE collection_id = ANY(:collections) AND stale AND retired_at IS NULL
          GROUP BY collection_id, reason) counted
    GROUP BY collection_id
)
SELECT w.name, w.owner, w.embedder, w.ingested_at,
       coalesce(documents, 0) AS documents, coalesce(chunks, 0) AS chunks,
       coalesce(topics, 0) AS topics, coalesce(pages, 0) AS pages, coalesce(stale, 0) AS stale,
       coalesce(never_compiled, 0) AS never_compiled, coalesce(quarantined, 0) AS quarantined,
       coalesce(retired, 0) AS retired, coalesce(drafts, 0) AS drafts,
       coalesce(by_model, 0) AS by_model, stale_since,
       coalesce(reasons, '{}'::jsonb) AS reasons
FROM wanted w
LEFT JOIN documents ON documents.collection_id = w.id
LEFT JOIN corpus ON corpus.collection_id = w.id
LEFT JOIN topics ON topics.collection_id = w.id
LEFT JOIN pages ON pages.collection_id = w.id
LEFT JOIN reasons ON reasons.collection_id = w.id
ORDER BY w.name, w.owner
"""


def collection_statuses(
    connection: Connection, collections: Iterable[Collection]
) -> list[CollectionStatus]:
    """Return the figures of the collections, by name."""
    rows = connection.execute(
        text(_COLLECTIONS), {"collections": [collection.id for collection in collections]}
    )
    return [CollectionStatus(**row) for row in rows.mappings()]
