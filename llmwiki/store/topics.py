"""Topics and their edges: what the overview reads, and what it writes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from llmwiki.domain import ChunkId, Collection, TopicId
from llmwiki.store.corpus_tables import ChunkTable, DocumentTable, TopicChunkTable, TopicTable
from llmwiki.store.wiki_tables import PageTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk with its place in the corpus, without its text."""

    document_path: str
    document_title: str
    breadcrumb: tuple[str, ...]
    section_position: int
    chunk_id: ChunkId
    content_hash: str
    token_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """A topic as stored, with the chunks that it owns."""

    id: TopicId
    key: str
    title: str
    folder: str
    position: int
    retired: bool
    source_hash: str | None
    """Over what its page was compiled from."""
    chunk_ids: tuple[ChunkId, ...]


def chunks(connection: Connection, collection: Collection) -> Iterator[ChunkRow]:
    """Yield the chunks of a collection by path, in reading order, without loading them all."""
    parent = ChunkTable.__table__.alias("parent")
    query = (
        select(
            DocumentTable.path,
            DocumentTable.title,
            ChunkTable.breadcrumb,
            parent.c.position,
            ChunkTable.id,
            ChunkTable.content_hash,
            ChunkTable.token_count,
        )
        .join(ChunkTable, ChunkTable.document_id == DocumentTable.id)
        .join(parent, parent.c.id == ChunkTable.parent_id)
        .where(DocumentTable.collection_id == collection.id)
        # The order of the bytes, not of a language, so that every server agrees.
        .order_by(DocumentTable.path.collate("C"), ChunkTable.position)
    )
    for row in connection.execute(query, execution_options={"yield_per": 2000}):
        yield ChunkRow(
            document_path=row[0],
            document_title=row[1],
            breadcrumb=tuple(row[2]),
            section_position=row[3],
            chunk_id=ChunkId(row[4]),
            content_hash=row[5],
            token_count=row[6],
        )


def all_topics(connection: Connection, collection: Collection) -> list[TopicRow]:
    """Return every topic of the collection, retired ones too, by id."""
    owned = (
        select(
            TopicChunkTable.topic_id,
            func.array_agg(TopicChunkTable.chunk_id)
            .aggregate_order_by(TopicChunkTable.position)
            .label("chunk_ids"),
        )
        .where(TopicChunkTable.collection_id == collection.id)
        .group_by(TopicChunkTable.topic_id)
        .subquery()
    )
    rows = connection.execute(
        select(TopicTable, owned.c.chunk_ids, PageTable.source_hash)
        .outerjoin(owned, owned.c.topic_id == TopicTable.id)
        .outerjoin(PageTable, PageTable.topic_id == TopicTable.id)
        .where(TopicTable.collection_id == collection.id)
        .order_by(TopicTable.id)
    )
    return [
        TopicRow(
            id=TopicId(row["id"]),
            key=row["key"],
            title=row["title"],
            folder=row["folder"],
            position=row["position"],
            retired=row["retired_at"] is not None,
            source_hash=row["source_hash"],
            chunk_ids=tuple(map(ChunkId, row["chunk_ids"] or ())),
        )
        for row in rows.mappings()
    ]


def insert_topics(
    connection: Connection, collection: Collection, topics: Sequence[tuple[str, str, str, int]]
) -> list[TopicId]:
    """Insert topics (key, title, folder, position); return their ids in order."""
    if not topics:
        return []
    statement = insert(TopicTable).returning(TopicTable.id, sort_by_parameter_order=True)
    rows = [
        {
            "collection_id": collection.id,
            "key": key,
            "title": title,
            "folder": folder,
            "position": position,
        }
        for key, title, folder, position in topics
    ]
    return [TopicId(row.id) for row in connection.execute(statement, rows)]


def update_topics(connection: Connection, topics: Sequence[tuple[TopicId, str, str, int]]) -> None:
    """Give topics (id, title, folder, position) new values; a retired one is live again."""
    if not topics:
        return
    connection.execute(
        update(TopicTable)
        .where(TopicTable.id == bindparam("topic"))
        .values(
            title=bindparam("new_title"),
            folder=bindparam("new_folder"),
            position=bindparam("new_position"),
            retired_at=None,
        ),
        [
            {"topic": topic, "new_title": title, "new_folder": folder, "new_position": position}
            for topic, title, folder, position in topics
        ],
    )


def retire_topics(connection: Connection, topic_ids: Iterable[TopicId]) -> None:
    """Retire topics; their edges go, their keys stay taken."""
    ids = list(topic_ids)
    if ids:
        connection.execute(
            update(TopicTable).where(TopicTable.id.in_(ids)).values(retired_at=func.now())
        )
        connection.execute(delete(TopicChunkTable).where(TopicChunkTable.topic_id.in_(ids)))


def set_topic_chunks(
    connection: Connection,
    collection: Collection,
    edges: Sequence[tuple[TopicId, Sequence[ChunkId]]],
) -> None:
    """Make the given chunks, in order, the only ones of each topic."""
    if not edges:
        return
    connection.execute(
        delete(TopicChunkTable).where(TopicChunkTable.topic_id.in_([topic for topic, _ in edges]))
    )
    statement = upsert(TopicChunkTable)
    # A chunk that another of these topics owned changes hands.
    statement = statement.on_conflict_do_update(
        index_elements=[TopicChunkTable.chunk_id],
        set_={"topic_id": statement.excluded.topic_id, "position": statement.excluded.position},
    )
    rows = [
        {
            "chunk_id": chunk_id,
            "topic_id": topic_id,
            "collection_id": collection.id,
            "position": position,
        }
        for topic_id, chunk_ids in edges
        for position, chunk_id in enumerate(chunk_ids)
    ]
    if rows:
        connection.execute(statement, rows)
