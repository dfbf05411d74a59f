"""Chunks as questions see them: the text, where it stands, what is known of its document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, CollectionId, DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChunk:
    """A chunk with its document's metadata and the page of the wiki that it belongs to."""

    id: ChunkId
    collection_id: CollectionId
    document_id: DocumentId
    document_path: str
    document_title: str
    section_id: ChunkId
    position: int
    """Among the chunks of the document, in reading order."""
    breadcrumb: tuple[str, ...]
    text: str
    content_hash: str
    token_count: int
    identifiers: tuple[str, ...] = ()
    evidence_family: str | None = None
    authority_tier: str | None = None
    version: str | None = None
    attributes: Mapping[str, Any]
    page_slug: str | None = None
    page_title: str | None = None
    page_compiled: bool = False
    page_stale: bool = False


_CHUNKS = """
SELECT c.id, c.collection_id, c.document_id, d.path AS document_path, d.title AS document_title,
       c.parent_id AS section_id, c.position, c.breadcrumb, c.text, c.content_hash, c.token_count,
       c.identifiers, d.evidence_family, d.authority_tier, d.version,
       nullif(d.attributes, '{{}}') AS attributes,
       p.slug AS page_slug, p.title AS page_title,
       coalesce(p.compiled_at IS NOT NULL, false) AS page_compiled,
       coalesce(p.stale, false) AS page_stale
FROM chunk c
JOIN document d ON d.id = c.document_id
LEFT JOIN topic_chunk tc ON tc.chunk_id = c.id
LEFT JOIN page p ON p.topic_id = tc.topic_id AND p.retired_at IS NULL
WHERE {which} AND c.parent_id IS NOT NULL
ORDER BY c.document_id, c.position
"""

_BESIDE = _CHUNKS.format(
    which="""c.id IN (
        SELECT side.id
        FROM unnest(CAST(:ids AS bigint[])) AS asked(id)
        JOIN chunk here ON here.id = asked.id
        CROSS JOIN LATERAL (
            SELECT c.id, sum(c.token_count) OVER (
                PARTITION BY sign(c.position - here.position)
                ORDER BY abs(c.position - here.position)
            ) AS reach, c.id = here.id AS itself
            FROM chunk c WHERE c.parent_id = here.parent_id
        ) AS side
        WHERE side.reach <= :tokens OR side.itself
    )"""
)


def read_chunks(connection: Connection, ids: Iterable[ChunkId]) -> dict[ChunkId, FoundChunk]:
    """Return the chunks by id; one that was removed meanwhile is left out."""
    found = _chunks(connection, _CHUNKS.format(which="c.id = ANY(:ids)"), {"ids": list(ids)})
    return {chunk.id: chunk for chunk in found}


def chunks_beside(
    connection: Connection, ids: Iterable[ChunkId], *, tokens: int
) -> dict[ChunkId, list[FoundChunk]]:
    """Return the chunks around each of these in its section, by section, in reading order.

    To each side as many as ``tokens`` hold together, and the chunk itself.
    """
    sections: dict[ChunkId, list[FoundChunk]] = {}
    for chunk in _chunks(connection, _BESIDE, {"ids": list(ids), "tokens": tokens}):
        sections.setdefault(chunk.section_id, []).append(chunk)
    return sections


def _chunks(
    connection: Connection, statement: str, parameters: Mapping[str, object]
) -> list[FoundChunk]:
    rows = connection.execute(text(statement), parameters)
    names = tuple(rows.keys())
    return [_chunk(dict(zip(names, row, strict=True))) for row in rows.all()]


def _chunk(values: dict[str, Any]) -> FoundChunk:
    values["breadcrumb"] = tuple(values["breadcrumb"])
    values["identifiers"] = tuple(values["identifiers"])
    # Most documents have none, and none is faster than reading an empty object of JSON.
    values["attributes"] = values["attributes"] or {}
    return FoundChunk(**values)
