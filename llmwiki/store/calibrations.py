"""What scores mean in a collection: figures measured from its own chunks at ingest.

Whether a cosine of .4 is much depends on the embedder, and whether a third of a question's words
is much depends on the corpus. The figures need no judged question.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log10

from sqlalchemy import Connection, select, text, update

from llmwiki.domain import ChunkId, Collection
from llmwiki.store.corpus_tables import CollectionTable

SMALL_CORPUS_SHARE, SHARE_PER_DIGIT, LARGEST_SHARE = 0.45, 0.15, 0.9
"""The best chunk of a large corpus comes near any question, so that more is asked of it."""


def closeness(cosine: float, foreign_cosine: float) -> float:
    """Return how near a chunk is from 0, no nearer than anything, to 1.

    In a space where everything is as near as can be, nothing is nearer than the rest.
    """
    room = 1 - foreign_cosine
    return max(0.0, (cosine - foreign_cosine) / room) if room > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The figures of one collection in one vector space."""

    embedder: str
    chunks: int
    """How many there were when it was measured."""
    foreign_cosine: float
    """Mean similarity of questions about anything else with the chunks: as good as nothing."""
    own_closeness: float
    """Median closeness of a chunk to its own first sentence; see ``closeness``."""
    common_overlap: float
    """Nine of ten random chunks hold less of a sentence's words, weighed by their rarity."""
    rare_overlap: float
    """99 of a hundred hold less."""

    def closeness(self, cosine: float) -> float:
        """Return how near a chunk is on a scale from 0, no nearer than anything, to 1."""
        return closeness(cosine, self.foreign_cosine)

    @property
    def needed(self) -> float:
        """The closeness and overlap that together make a chunk evidence, from 0 to 2.

        Set on four judged sets so that at least 97 % of their own questions pass, in corpora of
        5 to 1,800 chunks (docs/evaluation.md); it tells other subjects, not missing answers.
        """
        share = SMALL_CORPUS_SHARE + SHARE_PER_DIGIT * log10(max(self.chunks, 1))
        return self.own_closeness * min(LARGEST_SHARE, share)


def read_calibration(connection: Connection, collection: Collection) -> Calibration | None:
    """Return the figures, None where they were never measured or are of another embedder."""
    levels = connection.execute(
        select(CollectionTable.evidence_levels).where(CollectionTable.id == collection.id)
    ).scalar_one_or_none()
    if not levels or levels["embedder"] != collection.embedder.name:
        return None
    return Calibration(**levels)


def write_calibration(
    connection: Connection, collection: Collection, calibration: Calibration
) -> None:
    """Keep the figures with the collection."""
    connection.execute(
        update(CollectionTable)
        .where(CollectionTable.id == collection.id)
        .values(evidence_levels=asdict(calibration))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledChunk:
    """A chunk that figures are measured on."""

    id: ChunkId
    document_id: int
    text: str
    lexemes: frozenset[str]


# By the hash of their content, chunks come in an order that is as good as chance and always
# the same.
_SAMPLE = """
SELECT c.id, c.document_id, c.text, tsvector_to_array(c.lexemes) AS lexemes
FROM chunk c
WHERE c.collection_id = :collection AND c.parent_id IS NOT NULL
ORDER BY c.content_hash, c.id
LIMIT :limit
"""


def sample_chunks(
    connection: Connection, collection: Collection, *, limit: int
) -> Sequence[SampledChunk]:
    """Return chunks as good as drawn at random, the same ones for the same corpus."""
    rows = connection.execute(text(_SAMPLE), {"collection": collection.id, "limit": limit})
    return [
        SampledChunk(
            id=ChunkId(row.id),
            document_id=row.document_id,
            text=row.text,
            lexemes=frozenset(row.lexemes or ()),
        )
        for row in rows
    ]
