"""Pages that failed too often and wait for a person, or for their sources to move."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, PageId
from llmwiki.store.pins import current_edges


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedPage:
    """A page that the drain passes over."""

    page_id: PageId
    collection: str
    slug: str
    attempts: int
    last_error: str | None
    since: datetime
    has_text: bool


_REMEMBER = f"""
UPDATE page p SET quarantined_edges = {current_edges("p")}
WHERE id = :page AND quarantined_at IS NOT NULL AND quarantined_edges IS NULL
"""  # noqa: S608 - composed of constants

_LIST = """
SELECT p.id, k.name AS collection, p.slug, p.attempts, p.last_error, p.quarantined_at,
       p.compiled_at IS NOT NULL AS has_text
FROM page p JOIN collection k ON k.id = p.collection_id
WHERE p.quarantined_at IS NOT NULL AND p.retired_at IS NULL
  AND p.collection_id = ANY(:collections)
ORDER BY p.quarantined_at, p.id
"""

_RETRY = """
UPDATE page
SET quarantined_at = NULL, quarantined_edges = NULL, attempts = 0, not_before = NULL
WHERE id = ANY(:pages)
"""


def remember_edges(connection: Connection, page_id: PageId) -> None:
    """Note, where the page was just quarantined, on which sources: others give it a new chance."""
    connection.execute(text(_REMEMBER), {"page": page_id})


def quarantined_pages(
    connection: Connection, collections: Iterable[Collection]
) -> list[QuarantinedPage]:
    """Return the quarantined pages, those that wait longest first."""
    rows = connection.execute(
        text(_LIST), {"collections": [collection.id for collection in collections]}
    )
    return [
        QuarantinedPage(
            page_id=PageId(row.id),
            collection=row.collection,
            slug=row.slug,
            attempts=row.attempts,
            last_error=row.last_error,
            since=row.quarantined_at,
            has_text=row.has_text,
        )
        for row in rows
    ]


def retry_pages(connection: Connection, page_ids: Sequence[PageId]) -> None:
    """Put the pages back into the queue, at their place, with all their attempts."""
    connection.execute(text(_RETRY), {"pages": list(page_ids)})
