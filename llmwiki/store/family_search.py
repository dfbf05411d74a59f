"""Where evidence families stand in a corpus, and a search inside of one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlace:
    """What of a document decides to which families it belongs."""

    id: DocumentId
    path: str
    title: str
    evidence_family: str | None
    authority_tier: str | None
    version: str | None
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlace:
    """A section with the headings above its chunks."""

    id: ChunkId
    document_id: DocumentId
    breadcrumb: tuple[str, ...]


_DOCUMENTS = """
SELECT id, path, title, evidence_family, authority_tier, version, attributes
FROM document WHERE collection_id = ANY(:collections)
ORDER BY id
"""

_SECTIONS = """
SELECT id, document_id, breadcrumb
FROM chunk
WHERE document_id = ANY(:documents) AND parent_id IS NULL
ORDER BY document_id, position
"""

_SECTION_SIZES = """
SELECT parent_id AS section, count(*) AS chunks
FROM chunk
WHERE document_id = ANY(:documents) AND parent_id IS NOT NULL
GROUP BY parent_id
"""


def document_places(
    connection: Connection, collections: Sequence[Collection]
) -> list[DocumentPlace]:
    """Return the documents of the collections by id."""
    rows = connection.execute(
        text(_DOCUMENTS), {"collections": [collection.id for collection in collections]}
    )
    return [DocumentPlace(**row) for row in rows.mappings()]


def section_places(connection: Connection, documents: Iterable[DocumentId]) -> list[SectionPlace]:
    """Return the sections of the documents in reading order."""
    rows = connection.execute(text(_SECTIONS), {"documents": list(documents)}).mappings()
    return [SectionPlace(**{**row, "breadcrumb": tuple(row["breadcrumb"])}) for row in rows]


_CHUNKS_WITHIN = """
SELECT id FROM (
    SELECT id FROM chunk WHERE document_id = ANY(:documents) AND parent_id IS NOT NULL
    UNION
    SELECT id FROM chunk WHERE parent_id = ANY(:sections)
) AS within
ORDER BY id LIMIT :limit
"""


def section_sizes(connection: Connection, documents: Iterable[DocumentId]) -> dict[ChunkId, int]:
    """Return how many chunks each section of the documents has."""
    rows = connection.execute(text(_SECTION_SIZES), {"documents": list(documents)})
    return {ChunkId(row.section): row.chunks for row in rows}


def chunks_within(
    connection: Connection,
    documents: Iterable[DocumentId],
    sections: Iterable[ChunkId],
    *,
    limit: int,
) -> list[ChunkId]:
    """Return chunks of the documents and of the sections, so many at most."""
    rows = connection.execute(
        text(_CHUNKS_WITHIN),
        {"documents": list(documents), "sections": list(sections), "limit": limit},
    )
    return [ChunkId(row.id) for row in rows]


_BEFORE = """
SELECT c.id, p.id AS before
FROM chunk c
JOIN chunk p ON p.document_id = c.document_id AND p.parent_id = c.parent_id
            AND p.position = c.position - 1
WHERE c.id = ANY(:ids)
"""


def chunks_before(connection: Connection, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkId]:
    """Return for each chunk the one before it in its section, where there is one."""
    rows = connection.execute(text(_BEFORE), {"ids": list(ids)})
    return {ChunkId(row.id): ChunkId(row.before) for row in rows}
