"""Documents: what is stored, and writing one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from llmwiki.domain import Collection, DocumentId
from llmwiki.store.corpus_tables import ChunkTable, DocumentTable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as the database knows it."""

    id: DocumentId
    path: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentValues:
    """The columns of a document that follow from its file and the metadata rules."""

    path: str
    title: str
    fingerprint: str
    byte_size: int
    attributes: Mapping[str, Any]
    evidence_family: str | None
    authority_tier: str | None
    version: str | None


def stored_documents(connection: Connection, collection: Collection) -> dict[str, StoredDocument]:
    """Return the collection's documents by path."""
    rows = connection.execute(
        select(DocumentTable.id, DocumentTable.path, DocumentTable.fingerprint).where(
            DocumentTable.collection_id == collection.id
        )
    )
    return {
        row.path: StoredDocument(id=DocumentId(row.id), path=row.path, fingerprint=row.fingerprint)
        for row in rows
    }


def save_document(
    connection: Connection,
    collection: Collection,
    values: DocumentValues,
    document_id: DocumentId | None,
) -> DocumentId:
    """Insert the document, or update it where an id is given; return its id."""
    columns = {name: getattr(values, name) for name in values.__slots__}
    columns["attributes"] = dict(values.attributes)
    if document_id is None:
        return DocumentId(
            connection.execute(
                insert(DocumentTable)
                .values(collection_id=collection.id, **columns)
                .returning(DocumentTable.id)
            ).scalar_one()
        )
    connection.execute(
        update(DocumentTable)
        .where(DocumentTable.id == document_id)
        .values(ingested_at=func.now(), **columns)
    )
    return document_id


def delete_document(connection: Connection, document_id: DocumentId) -> None:
    """Delete the document with its chunks; edges that pages recorded stay."""
    connection.execute(delete(DocumentTable).where(DocumentTable.id == document_id))


def chunk_hashes(
    connection: Connection, document_ids: Iterable[DocumentId]
) -> Iterator[tuple[DocumentId, str]]:
    """Yield the content hash of every chunk of the documents."""
    rows = connection.execute(
        select(ChunkTable.document_id, ChunkTable.content_hash).where(
            ChunkTable.document_id.in_(list(document_ids)), ChunkTable.parent_id.is_not(None)
        )
    )
    for row in rows:
        yield DocumentId(row.document_id), row.content_hash
