"""Search by identifiers: options, dotted names, versions, letter by letter."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.store.scored import Scored, read_scores

_FREQUENCIES = """
SELECT name, (SELECT count(*) FROM chunk c
              WHERE c.collection_id = ANY(:collections) AND c.parent_id IS NOT NULL
                AND c.identifiers @> ARRAY[name]) AS frequency
FROM unnest(CAST(:names AS text[])) AS name
"""

_SCORES = """
WITH asked AS (
    SELECT name, weight
    FROM unnest(CAST(:names AS text[]), CAST(:weights AS float8[])) AS t(name, weight)
)
SELECT c.id, sum(asked.weight) AS score
FROM chunk c
CROSS JOIN LATERAL unnest(c.identifiers) AS held(name)
JOIN asked ON asked.name = held.name
WHERE c.collection_id = ANY(:collections) AND c.parent_id IS NOT NULL AND {which}
GROUP BY c.id
ORDER BY score DESC, c.id
LIMIT :limit
"""

_BY_NAMES = "c.identifiers && CAST(:names AS text[])"
_ONLY_DOCUMENTS = "c.document_id = ANY(CAST(:documents AS bigint[]))"


def identifier_frequencies(
    connection: Connection, collections: Sequence[Collection], names: Sequence[str]
) -> dict[str, int]:
    """Return how many chunks of the collections hold each identifier."""
    rows = connection.execute(
        text(_FREQUENCIES),
        {"collections": [collection.id for collection in collections], "names": list(names)},
    )
    return {row.name: row.frequency for row in rows}


def find_by_identifiers(
    connection: Connection,
    collections: Sequence[Collection],
    weights: Mapping[str, float],
    *,
    limit: int,
    documents: Iterable[DocumentId] | None = None,
) -> Scored:
    """Return the chunks that hold the most and the rarest identifiers."""
    which = _BY_NAMES if documents is None else f"{_BY_NAMES} AND {_ONLY_DOCUMENTS}"
    parameters = {
        **_parameters(collections, weights),
        "documents": None if documents is None else list(documents),
        "limit": limit,
    }
    return read_scores(connection.execute(text(_SCORES.format(which=which)), parameters))


def score_by_identifiers(
    connection: Connection,
    collections: Sequence[Collection],
    weights: Mapping[str, float],
    ids: Iterable[ChunkId],
) -> Scored:
    """Score the given chunks; holding no identifier is a score of zero."""
    asked = list(ids)
    parameters = {**_parameters(collections, weights), "ids": asked, "limit": None}
    found = read_scores(
        connection.execute(text(_SCORES.format(which="c.id = ANY(:ids)")), parameters)
    )
    held = dict(found)
    return [*found, *((chunk_id, 0.0) for chunk_id in sorted(asked) if chunk_id not in held)]


def _parameters(
    collections: Sequence[Collection], weights: Mapping[str, float]
) -> dict[str, object]:
    return {
        "collections": [collection.id for collection in collections],
        "names": list(weights),
        "weights": list(weights.values()),
    }
