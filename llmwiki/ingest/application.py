"""Carries out what was decided for one document, inside the caller's transaction."""

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.ingest.changes import ChunkPlan, plan_changes
from llmwiki.ingest.preparation import PreparedDocument
from llmwiki.store import chunks, documents
from llmwiki.store.chunks import ChunkValues, StoredChunk


def apply_document(
    connection: Connection,
    collection: Collection,
    prepared: PreparedDocument,
    document_id: DocumentId | None,
) -> None:
    """Bring the rows of a document to what was prepared; a new document has no id yet."""
    stored = chunks.stored_chunks(connection, document_id) if document_id is not None else ()
    saved = documents.save_document(connection, collection, prepared.values, document_id)
    _apply_plan(connection, collection, saved, plan_changes(stored, prepared.sections))


def _apply_plan(
    connection: Connection, collection: Collection, document_id: DocumentId, plan: ChunkPlan
) -> None:
    # Removed sections take their chunks with them, so chunks that moved on to another
    # section get their new parent before anything is deleted.
    new_sections = [section for section in plan.sections if section.stored is None]
    section_ids = iter(
        chunks.insert_chunks(
            connection,
            collection,
            document_id,
            [(None, section.values) for section in new_sections],
        )
    )
    insertions: list[tuple[ChunkId | None, ChunkValues]] = []
    existing: list[tuple[StoredChunk, ChunkId | None, ChunkValues]] = []
    for section in plan.sections:
        if section.stored is None:
            parent_id = next(section_ids)
        else:
            parent_id = section.stored.id
            existing.append((section.stored, None, section.values))
        for chunk in section.chunks:
            if chunk.stored is None:
                insertions.append((parent_id, chunk.values))
            else:
                existing.append((chunk.stored, parent_id, chunk.values))
    _update_existing(connection, collection, existing)
    chunks.insert_chunks(connection, collection, document_id, insertions)
    chunks.delete_chunks(connection, plan.removed)


def _update_existing(
    connection: Connection,
    collection: Collection,
    existing: list[tuple[StoredChunk, ChunkId | None, ChunkValues]],
) -> None:
    """Write only what differs, and the lexemes only where the text does."""
    rewritten, placed = [], []
    for stored, parent_id, values in existing:
        if _says_the_same(stored, values):
            if (stored.parent_id, stored.position) != (parent_id, values.position):
                placed.append((stored.id, parent_id, values.position))
        else:
            rewritten.append((stored.id, parent_id, values))
    chunks.update_chunks(connection, collection, rewritten)
    chunks.place_chunks(connection, placed)


def _says_the_same(stored: StoredChunk, values: ChunkValues) -> bool:
    # A reflow leaves the hashes alone; its text is stored all the same, without any drift.
    return all(
        getattr(stored, name) == getattr(values, name)
        for name in (
            "text",
            "breadcrumb",
            "content_hash",
            "token_count",
            "embedding_hash",
            "identifiers",
        )
    )
