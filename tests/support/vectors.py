"""Collections of chunks with vectors of any kind, without documents to read."""

import numpy as np
import numpy.typing as npt
from sqlalchemy import Engine

from llmwiki.domain import ChunkId, Collection, DocumentId, EmbedderIdentity
from llmwiki.store import chunks, collections, documents, embeddings
from llmwiki.store.chunks import ChunkValues
from tests.support.documents import plain_document

Matrix = npt.NDArray[np.float32]

CHUNKS_A_DOCUMENT = 25


def unit_vectors(count: int, dimension: int, seed: int = 0) -> Matrix:
    """Return vectors of length one, of shape (count, dimension), spread evenly."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def store_vectors(
    engine: Engine, vectors: Matrix, *, name: str = "vectors", embedder: str = "e'1:50%"
) -> tuple[Collection, list[ChunkId], list[DocumentId]]:
    """Store a chunk for each vector; return the collection and the ids in order."""
    identity = EmbedderIdentity(name=embedder, dimension=vectors.shape[1])
    with engine.connect() as connection:
        collection = collections.create_collection(connection, name, "system", identity)
        by_hash = {f"{name} {number}": vector for number, vector in enumerate(vectors)}
        embeddings.add_embeddings(connection, collection, identity, by_hash)
        ids: list[ChunkId] = []
        owners: list[DocumentId] = []
        for start in range(0, len(vectors), CHUNKS_A_DOCUMENT):
            numbers = range(start, min(start + CHUNKS_A_DOCUMENT, len(vectors)))
            document_id = documents.save_document(
                connection, collection, plain_document(str(start)), None
            )
            [section] = chunks.insert_chunks(
                connection, collection, document_id, [(None, _chunk(0, None))]
            )
            values = [(section, _chunk(1, f"{name} {number}")) for number in numbers]
            ids += chunks.insert_chunks(connection, collection, document_id, values)
            owners += [document_id] * len(values)
        connection.commit()
    return collection, ids, owners


def _chunk(position: int, embedding_hash: str | None) -> ChunkValues:
    return ChunkValues(
        position=position,
        breadcrumb=(),
        text=embedding_hash or "",
        content_hash="",
        token_count=1,
        embedding_hash=embedding_hash,
        search_text=embedding_hash,
    )
