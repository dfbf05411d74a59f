"""The approximate index of a collection's vectors: which it is, making it, dropping it.

The table of vectors holds those of all collections and embedders, of any dimension. So each large
collection gets a partial index of its own, over its current embedder's vectors cast to their
dimension. Its name tells what it is for; nothing else records it.
"""

import re
from collections.abc import Collection as Holding
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import structlog
from sqlalchemy import BindParameter, Connection, Engine, bindparam, text
from sqlalchemy.exc import DBAPIError

from llmwiki.domain import Collection, CollectionId
from llmwiki.store.word_statistics import read_extents

log = structlog.get_logger()

LARGEST_VECTOR = 2_000
"""Dimensions that pgvector indexes in full precision."""

LARGEST_HALF_VECTOR = 4_000
"""Dimensions that it indexes in half precision; above them every search is exact."""

SHRUNK = 0.5
"""An index goes when its collection has less than this share of what makes one worth its while:
well below the threshold, so that a collection at its edge does not build one night after night."""

LONGEST_WAIT = 60.0
"""Seconds that building waits for transactions that began before it, as it must."""

BUILD_MEMORY_MEGABYTES = (64, 1_024)
"""Least and most. A graph that fits into memory is built many times faster."""

_GRAPH_BYTES = 500
"""Of a vector's links in the graph, about."""

_NAME = re.compile(r"embedding_\d+_[0-9a-f]{16}_hnsw")

IndexChange = Literal["none", "kept", "created", "dropped", "busy", "failed"]
"""What became of the index: ``none`` where there is none and none is needed, ``busy`` where
another process is at it, ``failed`` where the next ingest has to try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndex:
    """The index over one collection's vectors in its current space."""

    collection_id: CollectionId
    embedder: str
    dimension: int

    @property
    def name(self) -> str:
        """Its name in the database."""
        space = sha256(f"{self.embedder} {self.dimension}".encode()).hexdigest()[:16]
        return f"embedding_{self.collection_id}_{space}_hnsw"

    @property
    def type(self) -> str:
        """What the vectors are cast to."""
        kind = "vector" if self.dimension <= LARGEST_VECTOR else "halfvec"
        return f"{kind}({self.dimension})"

    @property
    def operators(self) -> str:
        """The operator class of cosine distance for the type."""
        return "vector_cosine_ops" if self.dimension <= LARGEST_VECTOR else "halfvec_cosine_ops"

    def expression(self, table: str) -> str:
        """Return what is indexed. A query must say the same for the index to serve it."""
        return f"(CAST({table}.vector AS {self.type}))"

    def predicate(self, table: str) -> str:
        """Return which rows are indexed, to be used with ``constants``."""
        return f"{table}.collection_id = :indexed_collection AND {table}.embedder = :indexed_space"

    def constants(self) -> tuple[BindParameter[CollectionId], BindParameter[str]]:
        """Return the constants of the predicate. From parameters the planner proves nothing."""
        return (
            bindparam("indexed_collection", self.collection_id, literal_execute=True),
            bindparam("indexed_space", self.embedder, literal_execute=True),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What to do about the indexes of one collection."""

    drop: tuple[str, ...]
    create: VectorIndex | None
    keep: bool
    chunks: int


def index_for(collection: Collection) -> VectorIndex | None:
    """Return the index that a collection can have, None where its vectors are too long for one."""
    if collection.embedder.dimension > LARGEST_HALF_VECTOR:
        return None
    return VectorIndex(
        collection_id=collection.id,
        embedder=collection.embedder.name,
        dimension=collection.embedder.dimension,
    )


def find_vector_index(connection: Connection, collection: Collection) -> VectorIndex | None:
    """Return the collection's index where it is there and whole."""
    index = index_for(collection)
    if index is None or not _indexes(connection).get(index.name, False):
        return None
    return index


def refresh_vector_index(
    engine: Engine,
    collection: Collection,
    *,
    exact_below: int,
    longest_wait: float = LONGEST_WAIT,
) -> IndexChange:
    """Make, keep or drop the index of a collection, by its size and its embedder.

    Nobody is kept from reading or writing meanwhile. Searches are right with the index and
    without it, so what goes wrong is logged, and the next call begins again.
    """
    with engine.connect() as connection:
        change = _determine(connection, collection, exact_below)
    if not change.drop and change.create is None:
        return "kept" if change.keep else "none"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.detach()  # its settings and its lock end with it
        if not _lock(connection):
            return "busy"
        connection.execute(
            text("SELECT set_config('lock_timeout', :wait, false)"),
            {"wait": f"{longest_wait * 1000:.0f}ms"},
        )
        try:
            return _apply(connection, collection, exact_below)
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            log.warning(
                "vector_index.failed", collection=collection.name, error=str(error.orig).strip()
            )
            return "failed"


def _apply(connection: Connection, collection: Collection, exact_below: int) -> IndexChange:
    change = _determine(connection, collection, exact_below)
    for name in change.drop:
        connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))
        log.info("vector_index.dropped", collection=collection.name, index=name)
    if change.create is None:
        return "kept" if change.keep else "dropped" if change.drop else "none"
    _build(connection, change.create, change.chunks)
    log.info("vector_index.created", collection=collection.name, index=change.create.name)
    return "created"


def _determine(connection: Connection, collection: Collection, exact_below: int) -> _Change:
    return _plan(
        collection,
        _indexes(connection),
        set(connection.scalars(text("SELECT id FROM collection"))),
        read_extents(connection, [collection])[collection.id].chunks,
        exact_below,
    )


def _plan(
    collection: Collection,
    present: Mapping[str, bool],
    alive: Holding[int],
    chunks: int,
    exact_below: int,
) -> _Change:
    """Decide from the indexes that are there (by name: whole or not) and the collection's size."""
    wanted = index_for(collection)
    name = wanted.name if wanted else None
    whole = name is not None and present.get(name, False)
    needed = chunks > exact_below * (SHRUNK if whole else 1.0)
    keep = whole and needed
    drop = [
        other
        for other in present
        if (_collection_of(other) == collection.id and not (keep and other == name))
        or _collection_of(other) not in alive
    ]
    return _Change(
        drop=tuple(sorted(drop)),
        create=wanted if needed and not whole else None,
        keep=keep,
        chunks=chunks,
    )


def _build(connection: Connection, index: VectorIndex, chunks: int) -> None:
    least, most = BUILD_MEMORY_MEGABYTES
    needed = chunks * (4 * index.dimension + _GRAPH_BYTES) // 1_000_000
    connection.execute(
        text("SELECT set_config('maintenance_work_mem', :memory, false)"),
        {"memory": f"{min(max(needed, least), most)}MB"},
    )
    statement = f"""
        CREATE INDEX CONCURRENTLY {index.name} ON embedding
        USING hnsw ({index.expression("embedding")} {index.operators})
        WHERE {index.predicate("embedding")}
    """
    connection.execute(text(statement).bindparams(*index.constants()))
    # The planner weighs an index over an expression by statistics that it gathers for it.
    connection.execute(text("ANALYZE embedding"))


def _indexes(connection: Connection) -> dict[str, bool]:
    """Return the indexes of this kind by name, each with whether it is whole."""
    rows = connection.execute(
        text(
            """
            SELECT c.relname AS name, i.indisvalid AS whole
            FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE i.indrelid = 'embedding'::regclass
            """
        )
    )
    return {row.name: row.whole for row in rows if _NAME.fullmatch(row.name)}


def _collection_of(name: str) -> int:
    return int(name.split("_")[1])


def _lock(connection: Connection) -> bool:
    """Take the lock of all such work if it is free.

    A build waits for every transaction that began before it: two at once would wait for each
    other, and so would one that waits for this lock.
    """
    statement = text("SELECT pg_try_advisory_lock(hashtextextended('llmwiki.vector_index', 0))")
    return bool(connection.execute(statement).scalar_one())
