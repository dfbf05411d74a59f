"""How the wiki stands: counts by collection, the last run of each job, and lists of pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from llmwiki.domain import ChunkId, Collection, EmbedderIdentity, PageId, RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionStatus:
    """One collection in figures; pages count without the overview and without retired ones."""

    name: str
    owner: str
    embedder: str
    ingested_at: datetime | None
    documents: int
    passages: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """One run of a job."""

    id: RunId
    job: str
    started_at: datetime
    finished_at: datetime | None
    duration: timedelta
    """Until its end, or until now."""
    exit_code: int | None
    dead: bool
    """It has neither an end nor a recent heartbeat: killed, or its host is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """A page as lists show it."""

    slug: str
    title: str
    compiled_at: datetime | None
    generator: str | None
    stale: bool
    stale_reasons: tuple[str, ...]
    stale_since: datetime | None
    quarantined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagePlace:
    """Where a passage stands now, and the page that owns it, if any."""

    document_path: str
    breadcrumb: tuple[str, ...]
    page_slug: str | None


_COLLECTIONS = """
WITH wanted AS (SELECT * FROM collection WHERE id = ANY(:collections)),
corpus AS (
    SELECT collection_id,
           count(*) FILTER (WHERE parent_id IS NOT NULL) AS passages
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
       coalesce(documents, 0) AS documents, coalesce(passages, 0) AS passages,
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

_LAST_RUNS = """
SELECT DISTINCT ON (job) id, job, started_at, finished_at, exit_code,
       coalesce(finished_at, clock_timestamp()) - started_at AS duration,
       finished_at IS NULL AND heartbeat_at < clock_timestamp() - CAST(:silence AS interval)
         AS dead
FROM run
WHERE {which}
ORDER BY job, id DESC
"""

_PAGES = """
SELECT slug, title, compiled_at, generator, stale, stale_reasons, stale_since,
       quarantined_at IS NOT NULL AS quarantined
FROM page
WHERE collection_id = :collection AND kind = 'page' AND retired_at IS NULL
  AND (stale OR NOT :stale_only)
ORDER BY CASE WHEN :stale_only THEN stale_since END, slug COLLATE "C"
"""

_SIBLINGS = """
SELECT target.slug, target.title
FROM page_link l JOIN page target ON target.id = l.target_page_id
WHERE l.page_id = :page AND l.kind = 'sibling' AND target.retired_at IS NULL
ORDER BY l.position
"""

_PLACES = """
SELECT c.id, d.path, c.breadcrumb, p.slug
FROM chunk c
JOIN document d ON d.id = c.document_id
LEFT JOIN topic_chunk tc ON tc.chunk_id = c.id
LEFT JOIN page p ON p.topic_id = tc.topic_id
WHERE c.id = ANY(:chunks)
"""

_TITLES = """
SELECT t.title AS now, p.topic_title_at_compile AS compiled
FROM page p JOIN topic t ON t.id = p.topic_id WHERE p.id = :page
"""

_WITHOUT_VECTOR = """
SELECT count(*) FROM (
    SELECT embedding_hash AS hash FROM chunk
    WHERE collection_id = :collection AND embedding_hash IS NOT NULL
    UNION
    SELECT embedding_hash FROM page
    WHERE collection_id = :collection AND embedding_hash IS NOT NULL
) wanted
WHERE NOT EXISTS (
    SELECT 1 FROM embedding e
    WHERE e.collection_id = :collection AND e.embedder = :embedder AND e.hash = wanted.hash
)
"""


def collection_statuses(
    connection: Connection, collections: Iterable[Collection]
) -> list[CollectionStatus]:
    """Return the figures of the collections, by name."""
    rows = connection.execute(
        text(_COLLECTIONS), {"collections": [collection.id for collection in collections]}
    )
    return [CollectionStatus(**row) for row in rows.mappings()]


def last_runs(connection: Connection, *, silence: timedelta) -> list[RunStatus]:
    """Return the last run of each job; one without a heartbeat for so long is dead."""
    rows = connection.execute(text(_LAST_RUNS.format(which="true")), {"silence": silence})
    return [_run(row) for row in rows.mappings()]


def last_success(
    connection: Connection, job: str, exit_codes: Sequence[int], *, silence: timedelta
) -> RunStatus | None:
    """Return the last run of the job that ended with one of the codes."""
    statement = _LAST_RUNS.format(which="job = :job AND exit_code = ANY(:codes)")
    row = connection.execute(
        text(statement), {"job": job, "codes": list(exit_codes), "silence": silence}
    )
    found = row.mappings().one_or_none()
    return _run(found) if found else None


def list_pages(
    connection: Connection, collection: Collection, *, stale_only: bool = False
) -> list[PageLine]:
    """Return the live pages by slug; the stale ones in the order in which they wait."""
    rows = connection.execute(
        text(_PAGES), {"collection": collection.id, "stale_only": stale_only}
    ).mappings()
    return [PageLine(**{**row, "stale_reasons": tuple(row["stale_reasons"])}) for row in rows]


def sibling_pages(connection: Connection, page_id: PageId) -> list[tuple[str, str]]:
    """Return slug and title of the pages beside a page, in reading order."""
    rows = connection.execute(text(_SIBLINGS), {"page": page_id})
    return [(row.slug, row.title) for row in rows]


def passage_places(
    connection: Connection, chunk_ids: Iterable[ChunkId]
) -> dict[ChunkId, PassagePlace]:
    """Return where the passages stand; one that is gone is left out."""
    rows = connection.execute(text(_PLACES), {"chunks": list(chunk_ids)})
    return {
        ChunkId(row.id): PassagePlace(
            document_path=row.path, breadcrumb=tuple(row.breadcrumb), page_slug=row.slug
        )
        for row in rows
    }


def count_texts_without_vector(
    connection: Connection, collection: Collection, embedder: EmbedderIdentity
) -> int:
    """Return how many passages and pages, equal ones once, the embedder has not seen yet."""
    count: int = connection.execute(
        text(_WITHOUT_VECTOR), {"collection": collection.id, "embedder": embedder.name}
    ).scalar_one()
    return count


def text_settings(connection: Connection) -> tuple[str, str]:
    """Return the database's encoding and the locale that tells it what a letter is."""
    row = connection.execute(
        text(
            "SELECT pg_encoding_to_char(encoding), datctype "
            "FROM pg_database WHERE datname = current_database()"
        )
    ).one()
    return row[0], row[1]


def topic_titles(connection: Connection, page_id: PageId) -> tuple[str, str | None]:
    """Return the title of the page's topic now, and the one that the page was compiled for."""
    row = connection.execute(text(_TITLES), {"page": page_id}).one()
    return row.now, row.compiled


def _run(row: RowMapping) -> RunStatus:
    values: dict[str, Any] = dict(row)
    return RunStatus(**values)
