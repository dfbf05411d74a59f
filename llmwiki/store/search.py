"""Search in SQL: scores of passages by vector, by words and by identifiers, and what was hit.

Each kind of score comes in two forms that agree: the best passages of a collection, and the
passages of a given list. The second completes what the first did not reach.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection

Scored = list[tuple[ChunkId, float]]
"""Passages with their scores, the best first; ties by id."""

TERM_SATURATION = 1.2
LENGTH_WEIGHT = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many passages a collection has, and how long they are on average."""

    passages: int
    mean_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage as a reader sees it, with the page of the wiki that it belongs to."""

    id: ChunkId
    document_path: str
    breadcrumb: tuple[str, ...]
    text: str
    page_slug: str | None
    page_title: str | None
    page_compiled: bool
    page_stale: bool


_EXTENT = """
SELECT count(*) AS passages, coalesce(avg(token_count), 0)::float8 AS mean_tokens
FROM chunk WHERE collection_id = :collection AND parent_id IS NOT NULL
"""

# The question goes through to_tsvector and nothing else: in the language of tsquery, `-v` would
# exclude what is asked for. Quoted and escaped, a lexeme is one term whatever it holds.
_TERMS = r"""
WITH term AS (
    SELECT lexeme,
           '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''' AS quoted
    FROM unnest(to_tsvector(CAST(:config AS regconfig), :question))
)
SELECT lexeme, quoted,
       (SELECT count(*) FROM chunk c
        WHERE c.collection_id = :collection AND c.lexemes @@ CAST(quoted AS tsquery)) AS frequency
FROM term ORDER BY lexeme
"""

_BM25 = """
WITH term AS (
    SELECT lexeme, weight
    FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS float8[])) AS t(lexeme, weight)
)
SELECT c.id,
       sum(term.weight * cardinality(posting.positions) * (:k1 + 1)
           / (cardinality(posting.positions)
              + :k1 * (1 - :b + :b * c.token_count / :mean_tokens))) AS score
FROM chunk c
CROSS JOIN LATERAL unnest(c.lexemes) AS posting(lexeme, positions, weights)
JOIN term ON term.lexeme = posting.lexeme
WHERE c.collection_id = :collection AND c.parent_id IS NOT NULL AND {candidates}
GROUP BY c.id
ORDER BY score DESC, c.id
LIMIT :limit
"""

_IDENTIFIER_FREQUENCIES = """
SELECT name, (SELECT count(*) FROM chunk c
              WHERE c.collection_id = :collection AND c.identifiers @> ARRAY[name]) AS frequency
FROM unnest(CAST(:names AS text[])) AS name
"""

_IDENTIFIERS = """
WITH term AS (
    SELECT name, weight
    FROM unnest(CAST(:names AS text[]), CAST(:weights AS float8[])) AS t(name, weight)
)
SELECT c.id, sum(term.weight) AS score
FROM chunk c
CROSS JOIN LATERAL unnest(c.identifiers) AS held(name)
JOIN term ON term.name = held.name
WHERE c.collection_id = :collection AND c.parent_id IS NOT NULL AND {candidates}
GROUP BY c.id
ORDER BY score DESC, c.id
LIMIT :limit
"""

# Not a join: right after an ingest the planner knows nothing of the new rows, and compared each
# passage with each vector (19 s for 9,400). A subquery is one look-up by key, whatever it believes.
_VECTORS = """
SELECT c.id,
       (SELECT 1 - (e.vector <=> CAST(:vector AS vector))
        FROM embedding e
        WHERE e.collection_id = c.collection_id AND e.embedder = :embedder
          AND e.hash = c.embedding_hash) AS score
FROM chunk c
WHERE c.collection_id = :collection AND c.parent_id IS NOT NULL AND {candidates}
ORDER BY score DESC NULLS LAST, c.id
LIMIT :limit
"""

_FOUND = """
SELECT c.id, d.path, c.breadcrumb, c.text,
       p.slug, p.title, p.compiled_at IS NOT NULL AS compiled, p.stale
FROM chunk c
JOIN document d ON d.id = c.document_id
LEFT JOIN topic_chunk tc ON tc.chunk_id = c.id
LEFT JOIN page p ON p.topic_id = tc.topic_id AND p.retired_at IS NULL
WHERE c.id = ANY(:ids)
"""

_AMONG = "c.id = ANY(:ids)"


def extent_of(connection: Connection, collection: Collection) -> Extent:
    """Return the size of a collection, which the weights of words depend on."""
    row = connection.execute(text(_EXTENT), {"collection": collection.id}).one()
    return Extent(passages=row.passages, mean_tokens=row.mean_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A lexeme of the question, and how many passages hold it."""

    lexeme: str
    quoted: str
    """As a term of a tsquery."""
    frequency: int


def question_terms(connection: Connection, collection: Collection, question: str) -> list[Term]:
    """Return the lexemes of the question as PostgreSQL makes them; none for stop words alone."""
    rows = connection.execute(
        text(_TERMS),
        {
            "collection": collection.id,
            "config": collection.text_search_config,
            "question": question,
        },
    )
    return [Term(lexeme=row.lexeme, quoted=row.quoted, frequency=row.frequency) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordQuery:
    """The weight of each lexeme, and the terms that make a passage a candidate."""

    weights: Mapping[str, float]
    candidate_terms: Sequence[Term]
    mean_tokens: float


def score_words(
    connection: Connection,
    collection: Collection,
    query: WordQuery,
    *,
    among: Iterable[ChunkId] | None = None,
    limit: int | None = None,
) -> Scored:
    """Score passages by BM25: those that hold a candidate term, or those among the ids."""
    by_terms = "c.lexemes @@ CAST(:query AS tsquery)"
    return _scored(
        connection,
        _BM25.format(candidates=by_terms if among is None else _AMONG),
        {
            "collection": collection.id,
            "lexemes": list(query.weights),
            "weights": list(query.weights.values()),
            "mean_tokens": max(query.mean_tokens, 1.0),
            "k1": TERM_SATURATION,
            "b": LENGTH_WEIGHT,
            "query": " | ".join(term.quoted for term in query.candidate_terms),
            "limit": limit,
        },
        among,
    )


def identifier_frequencies(
    connection: Connection, collection: Collection, names: Sequence[str]
) -> dict[str, int]:
    """Return how many passages hold each identifier."""
    rows = connection.execute(
        text(_IDENTIFIER_FREQUENCIES), {"collection": collection.id, "names": list(names)}
    )
    return {row.name: row.frequency for row in rows}


def score_identifiers(
    connection: Connection,
    collection: Collection,
    weights: Mapping[str, float],
    *,
    among: Iterable[ChunkId] | None = None,
    limit: int | None = None,
) -> Scored:
    """Score passages by the weights of the identifiers that they hold."""
    by_names = "c.identifiers && CAST(:names AS text[])"
    return _scored(
        connection,
        _IDENTIFIERS.format(candidates=by_names if among is None else _AMONG),
        {
            "collection": collection.id,
            "names": list(weights),
            "weights": list(weights.values()),
            "limit": limit,
        },
        among,
    )


def score_vectors(
    connection: Connection,
    collection: Collection,
    vector: npt.NDArray[np.float32],
    *,
    among: Iterable[ChunkId] | None = None,
    limit: int | None = None,
) -> Scored:
    """Score passages by cosine similarity, exactly; one without a vector has no score."""
    return _scored(
        connection,
        _VECTORS.format(candidates="true" if among is None else _AMONG),
        {
            "collection": collection.id,
            "embedder": collection.embedder.name,
            "vector": str(vector.tolist()),
            "limit": limit,
        },
        among,
    )


def found_passages(connection: Connection, ids: Iterable[ChunkId]) -> dict[ChunkId, FoundPassage]:
    """Return the passages by id; one that was removed meanwhile is left out."""
    return {
        ChunkId(row.id): FoundPassage(
            id=ChunkId(row.id),
            document_path=row.path,
            breadcrumb=tuple(row.breadcrumb),
            text=row.text,
            page_slug=row.slug,
            page_title=row.title,
            page_compiled=bool(row.compiled),
            page_stale=bool(row.stale),
        )
        for row in connection.execute(text(_FOUND), {"ids": list(ids)})
    }


def _scored(
    connection: Connection,
    statement: str,
    parameters: Mapping[str, object],
    among: Iterable[ChunkId] | None,
) -> Scored:
    ids = None if among is None else list(among)
    rows = connection.execute(text(statement), {**parameters, "ids": ids})
    return [(ChunkId(row.id), float(row.score)) for row in rows if row.score is not None]
