"""Lists of pages: those of a collection, and those beside a page."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, PageId


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
