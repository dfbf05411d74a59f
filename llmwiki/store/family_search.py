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
    """A section with the headings above its passages."""

    id: ChunkId
    document_id: DocumentId
    breadcrumb: tuple[str, ...]
    passages: int


_DOCUMENTS = """
SELECT id, path, title, evidence_family, authority_tier, version, attributes
FROM document WHERE collection_id = ANY(:collections)
ORDER BY id
"""

_SECTIONS = """
SELECT s.id, s.document_id, s.breadcrumb,
       (SELECT count(*) FROM chunk c WHERE c.parent_id = s.id) AS passages
FROM chunk s
WHERE s.document_id = ANY(:documents) AND s.parent_id IS NULL
ORDER BY s.document_id, s.position
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
