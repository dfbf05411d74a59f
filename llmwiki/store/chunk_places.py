"""Where chunks stand now: in which document, under which headings, on which page."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlace:
    """Where a chunk stands now, and the page that owns it, if any."""

    document_path: str
    breadcrumb: tuple[str, ...]
    page_slug: str | None


_PLACES = """
SELECT c.id, d.path, c.breadcrumb, p.slug
FROM chunk c
JOIN document d ON d.id = c.document_id
LEFT JOIN topic_chunk tc ON tc.chunk_id = c.id
LEFT JOIN page p ON p.topic_id = tc.topic_id
WHERE c.id = ANY(:chunks)
"""


def find_places(connection: Connection, chunk_ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkPlace]:
    """Return where the chunks stand; one that is gone is left out."""
    rows = connection.execute(text(_PLACES), {"chunks": list(chunk_ids)})
    return {
        ChunkId(row.id): ChunkPlace(
            document_path=row.path, breadcrumb=tuple(row.breadcrumb), page_slug=row.slug
        )
        for row in rows
    }
