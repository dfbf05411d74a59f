"""Search over compiled pages: scores by vector and by words, and what of a page fits a question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, RowMapping, text

from llmwiki.domain import ChunkId, Collection, PageId

TERM_SATURATION = 1.2

# A page's text is served as it was compiled, stale or not; what is retired or has no text is not.
_SERVED = """
p.collection_id = :collection AND p.kind = 'page' AND p.retired_at IS NULL
AND p.compiled_at IS NOT NULL
"""

_VECTORS = f"""
SELECT p.id,
       (SELECT 1 - (e.vector <=> CAST(:vector AS vector))
        FROM embedding e
        WHERE e.collection_id = p.collection_id AND e.embedder = :embedder
          AND e.hash = p.embedding_hash) AS score
FROM page p
WHERE {_SERVED}
ORDER BY score DESC NULLS LAST, p.id
"""  # noqa: S608 - composed of constants

# Pages are of one length by design, so that length needs no share in the formula.
_WORDS = f"""
WITH term AS (
    SELECT lexeme, weight
    FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS float8[])) AS t(lexeme, weight)
)
SELECT p.id,
       sum(term.weight * cardinality(held.positions) * (:k1 + 1)
           / (cardinality(held.positions) + :k1))::float8 AS score
FROM page p
CROSS JOIN LATERAL unnest(p.search_vector) AS held(lexeme, positions, weights)
JOIN term ON term.lexeme = held.lexeme
WHERE {_SERVED}
GROUP BY p.id
ORDER BY score DESC, p.id
"""  # noqa: S608 - composed of constants

_PAGES = """
SELECT id, collection_id, slug, title, tldr, generator_kind, stale, stale_reasons, compiled_at
FROM page WHERE id = ANY(:pages)
"""

# A statement is affected when a chunk that it cites is gone or says something else by now.
_STATEMENTS = """
WITH term AS (
    SELECT lexeme, weight
    FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS float8[])) AS t(lexeme, weight)
)
SELECT s.page_id, s.position, s.role, s.heading, s.text, s.kind, s.chunk_ids,
       coalesce((SELECT sum(term.weight) FROM term
                 WHERE term.lexeme = ANY(tsvector_to_array(
                     to_tsvector(CAST(:config AS regconfig), s.text)))), 0)::float8 AS score,
       EXISTS (
           SELECT 1 FROM unnest(s.chunk_ids) AS cited(id)
           LEFT JOIN chunk c ON c.id = cited.id
           LEFT JOIN page_source e ON e.page_id = s.page_id AND e.chunk_id = cited.id
           WHERE c.id IS NULL OR c.content_hash IS DISTINCT FROM e.source_hash_at_compile
       ) AS affected
FROM statement s
WHERE s.page_id = ANY(:pages)
ORDER BY s.page_id, s.position
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStatement:
    """A statement of a page, how well it fits the question, and whether its sources moved."""

    page_id: PageId
    position: int
    role: str
    """``tldr`` or ``body``."""
    heading: str
    text: str
    kind: str
    chunk_ids: tuple[ChunkId, ...]
    score: float
    """Summed rarity of the question's words in it."""
    affected: bool
    """A chunk that it cites is gone, or says something else than when it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page as a question sees it."""

    id: PageId
    slug: str
    title: str
    tldr: str
    generator_kind: str
    stale: bool
    stale_reasons: tuple[str, ...]


def page_vector_scores(
    connection: Connection, collection: Collection, vector: npt.NDArray[np.float32]
) -> dict[PageId, float]:
    """Return the cosine similarity of every served page that has a vector."""
    rows = connection.execute(
        text(_VECTORS),
        {
            "collection": collection.id,
            "embedder": collection.embedder.name,
            "vector": str(vector.tolist()),
        },
    )
    return {PageId(row.id): float(row.score) for row in rows if row.score is not None}


def page_word_scores(
    connection: Connection, collection: Collection, weights: Mapping[str, float]
) -> dict[PageId, float]:
    """Return the score of every served page that holds a lexeme of the question."""
    rows = connection.execute(
        text(_WORDS),
        {"collection": collection.id, "k1": TERM_SATURATION, **_lexemes(weights)},
    )
    return {PageId(row.id): float(row.score) for row in rows}


def read_pages(connection: Connection, ids: Iterable[PageId]) -> dict[PageId, FoundPage]:
    """Return the pages by id."""
    rows = connection.execute(text(_PAGES), {"pages": list(ids)}).mappings()
    return {PageId(row["id"]): _page(row) for row in rows}


def page_statements(
    connection: Connection,
    collection: Collection,
    ids: Sequence[PageId],
    weights: Mapping[str, float],
) -> list[FoundStatement]:
    """Return the statements of the pages in order, scored by the question's lexemes."""
    rows = connection.execute(
        text(_STATEMENTS),
        {"pages": list(ids), "config": collection.text_search_config, **_lexemes(weights)},
    ).mappings()
    return [
        FoundStatement(
            **{**row, "chunk_ids": tuple(map(ChunkId, row["chunk_ids"]))},
        )
        for row in rows
    ]


def _lexemes(weights: Mapping[str, float]) -> dict[str, object]:
    return {"lexemes": list(weights), "weights": list(weights.values())}


def _page(row: RowMapping) -> FoundPage:
    return FoundPage(
        id=PageId(row["id"]),
        slug=row["slug"],
        title=row["title"],
        tldr=row["tldr"],
        generator_kind=row["generator_kind"] or "extractive",
        stale=row["stale"],
        stale_reasons=tuple(row["stale_reasons"]),
    )
