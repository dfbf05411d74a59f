"""Drift in SQL: recorded edges against current ones, for the sweep and for one page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, GeneratorKind, PageId, StaleReason
from llmwiki.store.pins import current_edges, pin_holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A page whose state the sweep changes; no reasons means that it is fresh again.

    The reasons can be those of before: then the sources of a quarantined page moved.
    """

    page_id: PageId
    slug: str
    reasons: tuple[StaleReason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDifference:
    """One chunk that makes a page stale."""

    chunk_id: ChunkId
    reason: StaleReason
    document_path: str | None
    breadcrumb: tuple[str, ...]
    since: datetime | None


# The reasons a page has today, from nothing but the rows: no flag is read, so nothing latches.
# A full join is needed: an inner one on the hashes would miss what was added and removed.
# A pin that holds is the last word; one that does not hold is as good as none.
_VERDICTS = f"""
live AS (
    SELECT p.id, p.slug, p.stale_reasons, p.compiled_at, p.topic_id, p.revision, p.pinned_at,
           {pin_holds("p")} AS pinned,
           CASE WHEN p.quarantined_edges IS NULL THEN false
                ELSE p.quarantined_edges <> {current_edges("p")} END AS released,
           t.title IS DISTINCT FROM p.topic_title_at_compile AS retitled,
           p.recipe_hash IS DISTINCT FROM :recipe
             AND NOT (p.generator_kind = 'model' AND :generator_kind = 'extractive') AS outdated
    FROM page p JOIN topic t ON t.id = p.topic_id
    WHERE p.collection_id = ANY(:collections) AND p.retired_at IS NULL
),
moved AS (
    SELECT page_id,
           bool_or(recorded.hash <> present.hash) AS content,
           bool_or(recorded.hash IS NULL) AS added,
           bool_or(present.hash IS NULL) AS removed
    FROM (
        SELECT s.page_id, s.chunk_id, s.source_hash_at_compile AS hash
        FROM page_source s JOIN live ON live.id = s.page_id
    ) recorded
    FULL JOIN (
        SELECT live.id AS page_id, c.id AS chunk_id, c.content_hash AS hash
        FROM live
        JOIN topic_chunk tc ON tc.topic_id = live.topic_id
        JOIN chunk c ON c.id = tc.chunk_id
    ) present USING (page_id, chunk_id)
    WHERE recorded.hash IS DISTINCT FROM present.hash
    GROUP BY page_id
),
verdict AS (
    SELECT live.id, live.slug, live.stale_reasons AS before, live.released,
           live.revision, live.pinned_at,
           CASE WHEN live.pinned THEN ARRAY[]::text[]
                WHEN live.compiled_at IS NULL THEN ARRAY['never-compiled']
                ELSE array_remove(ARRAY[
                    CASE WHEN moved.content OR live.retitled THEN 'content' END,
                    CASE WHEN moved.added THEN 'added' END,
                    CASE WHEN moved.removed THEN 'removed' END,
                    CASE WHEN live.outdated THEN 'recipe' END
                ], NULL)
           END AS reasons
    FROM live LEFT JOIN moved ON moved.page_id = live.id
)
"""  # noqa: S608 - composed of constants

# A page that was written or pinned while the statement ran keeps what it has: its verdict is of
# a row that is no more.

_SWEEP = f"""
WITH {_VERDICTS}
UPDATE page
SET stale = cardinality(verdict.reasons) > 0,
    stale_reasons = verdict.reasons,
    stale_since = CASE WHEN cardinality(verdict.reasons) > 0
                       THEN coalesce(page.stale_since, now()) END,
    attempts = CASE WHEN verdict.released THEN 0 ELSE page.attempts END,
    not_before = CASE WHEN NOT verdict.released THEN page.not_before END,
    quarantined_at = CASE WHEN NOT verdict.released THEN page.quarantined_at END,
    quarantined_edges = CASE WHEN NOT verdict.released THEN page.quarantined_edges END
FROM verdict
WHERE page.id = verdict.id
  AND (verdict.before IS DISTINCT FROM verdict.reasons OR verdict.released)
  AND page.revision = verdict.revision
  AND page.pinned_at IS NOT DISTINCT FROM verdict.pinned_at
RETURNING page.id, page.slug, verdict.reasons
"""  # noqa: S608 - composed of constants

_FORETELL = f"""
WITH {_VERDICTS}
SELECT id, slug, reasons FROM verdict WHERE before IS DISTINCT FROM reasons OR released
"""  # noqa: S608 - composed of constants

_DIFFERENCES = """
SELECT coalesce(recorded.chunk_id, present.chunk_id) AS chunk_id,
       CASE WHEN recorded.hash IS NULL THEN 'added'
            WHEN present.hash IS NULL THEN 'removed'
            ELSE 'content' END AS reason,
       present.path, present.breadcrumb, present.since
FROM (
    SELECT chunk_id, source_hash_at_compile AS hash, position
    FROM page_source WHERE page_id = :page
) recorded
FULL JOIN (
    SELECT c.id AS chunk_id, c.content_hash AS hash, d.path, c.breadcrumb,
           d.ingested_at AS since, tc.position
    FROM page p
    JOIN topic_chunk tc ON tc.topic_id = p.topic_id
    JOIN chunk c ON c.id = tc.chunk_id
    JOIN document d ON d.id = c.document_id
    WHERE p.id = :page
) present USING (chunk_id)
WHERE recorded.hash IS DISTINCT FROM present.hash
ORDER BY coalesce(present.position, recorded.position), chunk_id
"""

_MARK = f"""
UPDATE page
SET stale = true,
    stale_since = coalesce(stale_since, now()),
    stale_reasons = CASE WHEN 'content' = ANY(stale_reasons) THEN stale_reasons
                         ELSE array_append(stale_reasons, 'content') END
WHERE retired_at IS NULL AND compiled_at IS NOT NULL
  AND id IN (SELECT page_id FROM page_source WHERE chunk_id = ANY(:chunks))
  AND NOT (stale AND 'content' = ANY(stale_reasons))
  AND NOT {pin_holds("page")}
RETURNING id
"""  # noqa: S608 - composed of constants

_DRIFTED = """
SELECT s.chunk_id
FROM page_source s LEFT JOIN chunk c ON c.id = s.chunk_id
WHERE s.page_id = :page AND s.chunk_id = ANY(:chunks)
  AND c.content_hash IS DISTINCT FROM s.source_hash_at_compile
ORDER BY s.position
"""


def sweep(
    connection: Connection,
    collections: Iterable[Collection],
    recipe: str,
    generator_kind: GeneratorKind,
    *,
    write: bool,
) -> list[Verdict]:
    """Recompute which pages are stale and why, in one statement; return those that change.

    A page that a model wrote is not out of date because the offline generator is configured
    today: that one must not replace it. Without ``write`` the same verdicts are only told.
    """
    rows = connection.execute(
        text(_SWEEP if write else _FORETELL),
        {
            "collections": [collection.id for collection in collections],
            "recipe": recipe,
            "generator_kind": generator_kind,
        },
    )
    verdicts = [
        Verdict(page_id=PageId(row.id), slug=row.slug, reasons=tuple(row.reasons)) for row in rows
    ]
    return sorted(verdicts, key=lambda verdict: verdict.page_id)


def differences(connection: Connection, page_id: PageId) -> list[EdgeDifference]:
    """Return the chunks by which the page differs from its topic, in reading order."""
    rows = connection.execute(text(_DIFFERENCES), {"page": page_id})
    return [
        EdgeDifference(
            chunk_id=ChunkId(row.chunk_id),
            reason=cast("StaleReason", row.reason),
            document_path=row.path,
            breadcrumb=tuple(row.breadcrumb or ()),
            since=row.since,
        )
        for row in rows
    ]


def mark_pages_stale(connection: Connection, chunk_ids: Sequence[ChunkId]) -> list[PageId]:
    """Flag every live page that was compiled from one of the chunks; return those that change.

    A pinned page is spared as long as its pin holds.
    """
    rows = connection.scalars(text(_MARK), {"chunks": list(chunk_ids)})
    return sorted(map(PageId, rows))


def drifted_chunks(
    connection: Connection, page_id: PageId, chunk_ids: Sequence[ChunkId]
) -> list[ChunkId]:
    """Return those of the page's chunks whose content is no longer what was compiled."""
    rows = connection.scalars(text(_DRIFTED), {"page": page_id, "chunks": list(chunk_ids)})
    return list(map(ChunkId, rows))
