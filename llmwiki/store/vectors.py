"""Vectors of chunks, read back."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from llmwiki.domain import ChunkId, Collection
from llmwiki.store.corpus_tables import ChunkTable, EmbeddingTable


def read_vectors(
    connection: Connection, collection: Collection, ids: Iterable[ChunkId]
) -> dict[ChunkId, npt.NDArray[np.float32]]:
    """Return the vectors of the chunks in the collection's own space, as far as there are any."""
    rows = connection.execute(
        select(ChunkTable.id, EmbeddingTable.vector)
        .join(
            EmbeddingTable,
            (EmbeddingTable.collection_id == ChunkTable.collection_id)
            & (EmbeddingTable.hash == ChunkTable.embedding_hash),
        )
        .where(
            ChunkTable.collection_id == collection.id,
            ChunkTable.id.in_(list(ids)),
            EmbeddingTable.embedder == collection.embedder.name,
        )
    )
    return {ChunkId(row.id): np.asarray(row.vector, dtype=np.float32) for row in rows}
