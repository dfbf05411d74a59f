"""What parts of the corpus are called, and which of those names a text holds.

Names and texts are compared by the lexemes that PostgreSQL makes of them, in their order: case,
inflection and stop words mean nothing. Triggers keep the names (see the migration "names of the
corpus"); a look-up goes from the runs of words of the text to the index, and its time does not
depend on how many names there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, CollectionId, DocumentId
from llmwiki.text.lexemes import separate_words

NameKind = Literal["title", "heading", "family"]

LONGEST_NAME = 8
"""Lexemes. Longer titles are sentences, and are not kept as names."""

BEARERS_READ = 40
"""Parts of the corpus of one name that are read: a name that so many bear tells nothing apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusName:
    """One part of the corpus that bears a name."""

    key: str
    """The name's lexemes between blanks."""
    kind: NameKind
    name: str
    """As the corpus writes it."""
    collection_id: CollectionId
    document_id: DocumentId
    section_id: ChunkId | None
    """Of a heading."""


_LEXEMES = """
SELECT word.lexeme
FROM unnest(to_tsvector(CAST(:config AS regconfig), :text)) AS word
CROSS JOIN LATERAL unnest(word.positions) AS place(position)
ORDER BY place.position, word.lexeme COLLATE "C"
"""

# One bearer of a family stands for all: its documents are told by their metadata. Most runs of
# words are nobody's name, and are looked up once.
_NAMES = """
SELECT n.key, n.kind, n.name, n.collection_id, n.document_id, n.section_id
FROM (
    SELECT key FROM unnest(CAST(:keys AS text[])) AS run(key)
    WHERE EXISTS (SELECT 1 FROM corpus_name c
                  WHERE c.collection_id = ANY(:collections) AND c.key = run.key COLLATE "C")
    OFFSET 0
) AS asked
CROSS JOIN LATERAL (
    (SELECT * FROM corpus_name c
     WHERE c.collection_id = ANY(:collections) AND c.key = asked.key COLLATE "C"
       AND c.kind IN ('title', 'heading')
     LIMIT :most)
    UNION ALL
    (SELECT * FROM corpus_name c
     WHERE c.collection_id = ANY(:collections) AND c.key = asked.key COLLATE "C"
       AND c.kind = 'family'
     ORDER BY c.id LIMIT 1)
) n
ORDER BY n.id
"""

_BELOW = """
SELECT s.id AS section, below.id
FROM chunk s JOIN chunk below ON below.document_id = s.document_id
WHERE s.id = ANY(:sections) AND below.parent_id IS NULL
  AND below.breadcrumb[1:cardinality(s.breadcrumb)] = s.breadcrumb
ORDER BY below.id
"""


def lexemes_in_order(
    connection: Connection, collections: Sequence[Collection], words: str
) -> tuple[str, ...]:
    """Return the lexemes of a text as it goes, in the collections' configuration."""
    rows = connection.execute(
        text(_LEXEMES),
        {"config": collections[0].text_search_config, "text": separate_words(words)},
    )
    return tuple(rows.scalars().all())


def runs_of(lexemes: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield each run of lexemes that could be a name: from, to, key."""
    for start in range(len(lexemes)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(lexemes)) + 1):
            yield start, end, " ".join(lexemes[start:end])


def names_with(
    connection: Connection, collections: Sequence[Collection], keys: Iterable[str]
) -> list[CorpusName]:
    """Return the parts of the corpus whose names have these keys."""
    rows = connection.execute(
        text(_NAMES),
        {
            "collections": [collection.id for collection in collections],
            "keys": sorted(set(keys)),
            "most": BEARERS_READ,
        },
    )
    names = tuple(rows.keys())
    return [CorpusName(**dict(zip(names, row, strict=True))) for row in rows.all()]


def sections_below(
    connection: Connection, sections: Iterable[ChunkId]
) -> dict[ChunkId, frozenset[ChunkId]]:
    """Return for each section itself and those under its heading."""
    below: dict[ChunkId, set[ChunkId]] = {}
    for row in connection.execute(text(_BELOW), {"sections": list(sections)}).all():
        below.setdefault(ChunkId(row.section), set()).add(ChunkId(row.id))
    return {section: frozenset(ids) for section, ids in below.items()}
