"""Search by vectors: an exact scan, or the index of the collection where it has one."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.store.scored import Scored, read_scores
from llmwiki.store.vector_indexes import VectorIndex

VectorMethod = Literal["exact", "hnsw"]

CANDIDATES_PER_RESULT = 2
"""The index gives its candidates in a relaxed order, so more are taken than are asked for."""

_SMALLEST_SEARCH, _LARGEST_SEARCH = 200, 1000
"""Of the list that HNSW keeps while it searches; the latter is pgvector's limit."""

# Vectors are sorted first and looked up one by one, until there are enough: pages have vectors in
# the same table, and a text that occurs twice has one vector.
_FIND_EXACTLY = """
SELECT c.id, 1 - nearest.distance AS score
FROM (
    SELECT e.hash, e.vector <=> CAST(:vector AS vector) AS distance
    FROM embedding e
    WHERE e.collection_id = :collection AND e.embedder = :embedder
    ORDER BY distance
) AS nearest
CROSS JOIN LATERAL ({chunks_of_nearest}) AS c
ORDER BY nearest.distance, c.id
LIMIT :limit
"""

_CHUNKS_OF = """
SELECT c.id FROM chunk c
WHERE c.collection_id = :collection AND c.embedding_hash = {vectors}.hash
  AND c.parent_id IS NOT NULL {only}
OFFSET 0
"""

# The scan goes on through the index until enough chunks are found, whatever the filter leaves.
_FIND_BY_INDEX = """
WITH near AS MATERIALIZED (
    SELECT c.id, e.hash
    FROM embedding e
    CROSS JOIN LATERAL ({chunks_of_e}) AS c
    WHERE {predicate}
    ORDER BY {indexed} <=> CAST(:vector AS {indexed_type})
    LIMIT :pool
)
SELECT near.id,
       (SELECT 1 - (e.vector <=> CAST(:vector AS vector))
        FROM embedding e
        WHERE e.collection_id = :collection AND e.embedder = :embedder
          AND e.hash = near.hash) AS score
FROM near
ORDER BY score DESC, near.id
LIMIT :limit
"""

# Not a join: right after an ingest the planner knows nothing of the new rows, and compared each
# chunk with each vector (19 s for 9,400). A subquery is one look-up by key, whatever it believes.
_SCORE = """
SELECT c.id,
       (SELECT 1 - (e.vector <=> CAST(:vector AS vector))
        FROM embedding e
        WHERE e.collection_id = c.collection_id AND e.embedder = :embedder
          AND e.hash = c.embedding_hash) AS score
FROM chunk c
WHERE c.id = ANY(:ids) AND c.collection_id = :collection AND c.parent_id IS NOT NULL
ORDER BY score DESC NULLS LAST, c.id
"""

_ONLY_DOCUMENTS = "AND c.document_id = ANY(CAST(:documents AS bigint[]))"

# A tier tells that the index ran, so it has to run. The only other way is to sort all vectors.
_BEFORE_INDEX = """
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.ef_search', :breadth, true),
       set_config('enable_sort', 'off', true)
"""
_AFTER_INDEX = "SELECT set_config('enable_sort', 'on', true)"


def find_by_vector(
    connection: Connection,
    collection: Collection,
    vector: npt.NDArray[np.float32],
    *,
    limit: int,
    index: VectorIndex | None = None,
    documents: Iterable[DocumentId] | None = None,
) -> Scored:
    """Return the chunks nearest by cosine similarity, of these documents where given.

    Without an index every vector of the collection is compared. With one some of the nearest may
    be missed; the scores are exact all the same.
    """
    only = "" if documents is None else _ONLY_DOCUMENTS
    parameters = {
        **_parameters(collection, vector),
        "documents": None if documents is None else list(documents),
        "limit": limit,
    }
    if index is None:
        chunks = _CHUNKS_OF.format(vectors="nearest", only=only)
        statement = text(_FIND_EXACTLY.format(chunks_of_nearest=chunks))
        return read_scores(connection.execute(statement, parameters))
    pool = CANDIDATES_PER_RESULT * limit
    breadth = min(max(pool, _SMALLEST_SEARCH), _LARGEST_SEARCH)
    connection.execute(text(_BEFORE_INDEX), {"breadth": str(breadth)})
    statement = text(
        _FIND_BY_INDEX.format(
            chunks_of_e=_CHUNKS_OF.format(vectors="e", only=only),
            predicate=index.predicate("e"),
            indexed=index.expression("e"),
            indexed_type=index.type,
        )
    ).bindparams(*index.constants())
    found = read_scores(connection.execute(statement, {**parameters, "pool": pool}))
    connection.execute(text(_AFTER_INDEX))
    return found


def score_by_vector(
    connection: Connection,
    collection: Collection,
    vector: npt.NDArray[np.float32],
    ids: Iterable[ChunkId],
) -> Scored:
    """Score the given chunks of the collection exactly; one without a vector has no score."""
    parameters = {**_parameters(collection, vector), "ids": list(ids)}
    return read_scores(connection.execute(text(_SCORE), parameters))


def _parameters(collection: Collection, vector: npt.NDArray[np.float32]) -> dict[str, object]:
    return {
        "collection": collection.id,
        "embedder": collection.embedder.name,
        "vector": str(vector.tolist()),
    }
