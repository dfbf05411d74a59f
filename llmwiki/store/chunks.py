"""Chunks: a document's sections and chunks, and carrying out a plan of changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Function, bindparam, cast, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import REGCONFIG

from llmwiki.domain import ChunkId, Collection, DocumentId, SourceChunk, TopicId
from llmwiki.store.corpus_tables import ChunkTable, DocumentTable, TopicChunkTable
from llmwiki.text.lexemes import separate_words


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as the database knows it."""

    id: ChunkId
    parent_id: ChunkId | None
    position: int
    breadcrumb: tuple[str, ...]
    text: str
    content_hash: str
    token_count: int
    embedding_hash: str | None
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkValues:
    """The columns of a chunk that follow from its document."""

    position: int
    breadcrumb: tuple[str, ...]
    text: str
    content_hash: str
    token_count: int
    embedding_hash: str | None = None
    identifiers: tuple[str, ...] = ()
    search_text: str | None = None
    """What the lexemes are made of; only chunks have any."""


def stored_chunks(connection: Connection, document_id: DocumentId) -> tuple[StoredChunk, ...]:
    """Return the chunks of a document in reading order."""
    rows = connection.execute(
        select(
            ChunkTable.id,
            ChunkTable.parent_id,
            ChunkTable.position,
            ChunkTable.breadcrumb,
            ChunkTable.text,
            ChunkTable.content_hash,
            ChunkTable.token_count,
            ChunkTable.embedding_hash,
            ChunkTable.identifiers,
        )
        .where(ChunkTable.document_id == document_id)
        .order_by(ChunkTable.position, ChunkTable.id)
    )
    return tuple(
        StoredChunk(
            id=ChunkId(row.id),
            parent_id=ChunkId(row.parent_id) if row.parent_id is not None else None,
            position=row.position,
            breadcrumb=tuple(row.breadcrumb),
            text=row.text,
            content_hash=row.content_hash,
            token_count=row.token_count,
            embedding_hash=row.embedding_hash,
            identifiers=tuple(row.identifiers),
        )
        for row in rows
    )


def insert_chunks(
    connection: Connection,
    collection: Collection,
    document_id: DocumentId,
    chunks: Sequence[tuple[ChunkId | None, ChunkValues]],
) -> list[ChunkId]:
    """Insert chunks under their parents (None for a section); return the ids in order."""
    if not chunks:
        return []
    statement = (
        insert(ChunkTable)
        .values(lexemes=_lexemes(collection))
        .returning(ChunkTable.id, sort_by_parameter_order=True)
    )
    rows = [
        {
            "collection_id": collection.id,
            "document_id": document_id,
            "parent_id": parent_id,
            **_columns(values),
        }
        for parent_id, values in chunks
    ]
    return [ChunkId(row.id) for row in connection.execute(statement, rows)]


def update_chunks(
    connection: Connection,
    collection: Collection,
    chunks: Sequence[tuple[ChunkId, ChunkId | None, ChunkValues]],
) -> None:
    """Give existing chunks new values: (id, parent id, values)."""
    if not chunks:
        return
    statement = (
        update(ChunkTable)
        .where(ChunkTable.id == bindparam("chunk_id"))
        .values(
            parent_id=bindparam("new_parent_id"),
            lexemes=_lexemes(collection),
            **{name: bindparam(f"new_{name}") for name in _COLUMNS},
        )
    )
    connection.execute(
        statement,
        [
            {
                "chunk_id": chunk_id,
                "new_parent_id": parent_id,
                "search_text": _separated(values.search_text),
                **{f"new_{name}": _columns(values)[name] for name in _COLUMNS},
            }
            for chunk_id, parent_id, values in chunks
        ],
    )


def place_chunks(
    connection: Connection, places: Sequence[tuple[ChunkId, ChunkId | None, int]]
) -> None:
    """Move chunks that say what they said: (id, parent id, position)."""
    if not places:
        return
    connection.execute(
        update(ChunkTable)
        .where(ChunkTable.id == bindparam("chunk_id"))
        .values(parent_id=bindparam("new_parent_id"), position=bindparam("new_position")),
        [
            {"chunk_id": chunk_id, "new_parent_id": parent_id, "new_position": position}
            for chunk_id, parent_id, position in places
        ],
    )


def delete_chunks(connection: Connection, chunk_ids: Iterable[ChunkId]) -> None:
    """Delete chunks; edges that pages recorded stay."""
    ids = list(chunk_ids)
    if ids:
        connection.execute(delete(ChunkTable).where(ChunkTable.id.in_(ids)))


def topic_sources(
    connection: Connection, topic_ids: Iterable[TopicId]
) -> dict[TopicId, tuple[SourceChunk, ...]]:
    """Return the chunks of each topic in reading order; an empty topic is left out."""
    rows = connection.execute(
        select(
            TopicChunkTable.topic_id,
            ChunkTable.id,
            ChunkTable.breadcrumb,
            ChunkTable.text,
            ChunkTable.content_hash,
            ChunkTable.token_count,
            DocumentTable.path,
        )
        .join(ChunkTable, ChunkTable.id == TopicChunkTable.chunk_id)
        .join(DocumentTable, DocumentTable.id == ChunkTable.document_id)
        .where(TopicChunkTable.topic_id.in_(list(topic_ids)))
        .order_by(TopicChunkTable.topic_id, TopicChunkTable.position)
    )
    sources: dict[TopicId, list[SourceChunk]] = {}
    for row in rows:
        sources.setdefault(TopicId(row.topic_id), []).append(
            SourceChunk(
                id=ChunkId(row.id),
                document_path=row.path,
                breadcrumb=tuple(row.breadcrumb),
                text=row.text,
                content_hash=row.content_hash,
                token_count=row.token_count,
            )
        )
    return {topic_id: tuple(chunks) for topic_id, chunks in sources.items()}


_COLUMNS = (
    "position",
    "breadcrumb",
    "text",
    "content_hash",
    "token_count",
    "embedding_hash",
    "identifiers",
)


def _columns(values: ChunkValues) -> dict[str, object]:
    columns: dict[str, object] = {name: getattr(values, name) for name in _COLUMNS}
    return columns | {
        "breadcrumb": list(values.breadcrumb),
        "identifiers": list(values.identifiers),
        "search_text": _separated(values.search_text),
    }


def _separated(search_text: str | None) -> str | None:
    return None if search_text is None else separate_words(search_text)


def _lexemes(collection: Collection) -> Function[object]:
    # to_tsvector(NULL) is NULL, which is what a section gets.
    return func.to_tsvector(
        cast(collection.text_search_config, REGCONFIG), bindparam("search_text")
    )
