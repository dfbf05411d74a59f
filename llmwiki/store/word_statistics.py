"""What words are weighed by: the size of collections, and how many chunks hold a lexeme.

Triggers on ``chunk`` keep the figures (see the migration "statistics of words"), so that every
path that changes chunks keeps them right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, CollectionId
from llmwiki.text.lexemes import separate_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many chunks there are, and how long they are together."""

    chunks: int = 0
    length: int = 0
    """In lexemes, each as often as it occurs."""

    def __add__(self, other: "Extent") -> "Extent":
        return Extent(chunks=self.chunks + other.chunks, length=self.length + other.length)

    @property
    def mean_length(self) -> float:
        """Of a chunk."""
        return self.length / max(self.chunks, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A lexeme of a question that some chunk holds."""

    lexeme: str
    occurrences: int
    """In the question."""
    frequency: int
    """Chunks that hold it."""


_EXTENTS = """
SELECT collection_id, chunks, length FROM corpus_extent WHERE collection_id = ANY(:collections)
"""

# The question goes through to_tsvector and nothing else: in the language of tsquery, `-v` would
# exclude what is asked for.
_TERMS = """
SELECT asked.lexeme, cardinality(asked.positions) AS occurrences,
       (SELECT sum(t.frequency)::bigint FROM term t
        WHERE t.collection_id = ANY(:collections)
          AND t.lexeme = asked.lexeme COLLATE "C") AS frequency
FROM unnest(to_tsvector(CAST(:config AS regconfig), :question)) AS asked
ORDER BY asked.lexeme COLLATE "C"
"""


_HELD = """
SELECT c.id, held.lexeme, cardinality(held.positions) AS occurrences
FROM chunk c CROSS JOIN LATERAL unnest(c.lexemes) AS held(lexeme, positions, weights)
WHERE c.id = ANY(:ids)
ORDER BY c.id, held.lexeme COLLATE "C"
"""

_FREQUENCIES = """
SELECT lexeme, sum(frequency)::bigint AS frequency FROM term
WHERE collection_id = ANY(:collections) AND lexeme = ANY(CAST(:lexemes AS text[]))
GROUP BY lexeme
"""


_SENTENCES = """
SELECT asked.place, held.lexeme, coalesce(t.frequency, 0) AS frequency
FROM unnest(CAST(:sentences AS text[])) WITH ORDINALITY AS asked(sentence, place)
CROSS JOIN LATERAL unnest(to_tsvector(CAST(:config AS regconfig), asked.sentence)) AS held
LEFT JOIN term t ON t.collection_id = :collection AND t.lexeme = held.lexeme COLLATE "C"
"""


def rarity(chunks: int, frequency: int) -> float:
    """Return the inverse document frequency of BM25 (Robertson and Zaragoza 2009), above zero."""
    return log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def read_extents(
    connection: Connection, collections: Iterable[Collection]
) -> dict[CollectionId, Extent]:
    """Return the size of each of the collections."""
    ids = [collection.id for collection in collections]
    found = {
        row.collection_id: Extent(chunks=row.chunks, length=row.length)
        for row in connection.execute(text(_EXTENTS), {"collections": ids})
    }
    return {collection_id: found.get(collection_id, Extent()) for collection_id in ids}


def question_terms(
    connection: Connection, collections: Sequence[Collection], question: str
) -> list[Term]:
    """Return the lexemes of the question as PostgreSQL makes them; none for stop words alone.

    The collections share one text search configuration. A lexeme that no chunk holds has the
    frequency 0.
    """
    rows = connection.execute(
        text(_TERMS),
        {
            "collections": [collection.id for collection in collections],
            "config": collections[0].text_search_config,
            "question": separate_words(question),
        },
    )
    return [
        Term(lexeme=row.lexeme, occurrences=row.occurrences, frequency=row.frequency or 0)
        for row in rows.all()
    ]


def chunk_lexemes(connection: Connection, ids: Iterable[ChunkId]) -> dict[ChunkId, dict[str, int]]:
    """Return the lexemes of each chunk with their occurrences."""
    held: dict[ChunkId, dict[str, int]] = {}
    for row in connection.execute(text(_HELD), {"ids": list(ids)}).all():
        held.setdefault(ChunkId(row.id), {})[row.lexeme] = row.occurrences
    return held


def lexeme_frequencies(
    connection: Connection, collections: Iterable[Collection], lexemes: Sequence[str]
) -> dict[str, int]:
    """Return how many chunks hold each of the lexemes; one that none holds is left out."""
    rows = connection.execute(
        text(_FREQUENCIES),
        {"collections": [collection.id for collection in collections], "lexemes": list(lexemes)},
    )
    return {row.lexeme: row.frequency for row in rows.all()}


def sentence_terms(
    connection: Connection, collection: Collection, sentences: Sequence[str]
) -> list[dict[str, int]]:
    """Return the lexemes of each sentence with the number of chunks that hold them."""
    terms: list[dict[str, int]] = [{} for _ in sentences]
    rows = connection.execute(
        text(_SENTENCES),
        {
            "collection": collection.id,
            "config": collection.text_search_config,
            "sentences": [separate_words(sentence) for sentence in sentences],
        },
    )
    for row in rows.all():
        terms[row.place - 1][row.lexeme] = row.frequency
    return terms
