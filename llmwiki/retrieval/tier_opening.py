"""Opens the flat tiers of one question over one collection or several."""

from collections.abc import Sequence

from sqlalchemy import Connection

from llmwiki.domain import Collection
from llmwiki.retrieval.blend import QuestionWords
from llmwiki.retrieval.embedding import QuestionVector
from llmwiki.retrieval.pool import OpenedTiers
from llmwiki.retrieval.tiers import (
    DenseTier,
    Extents,
    IdentifierTier,
    LexicalTier,
    dense_tier,
    identifier_tier,
    lexical_tier,
)
from llmwiki.store.word_statistics import read_extents


def open_tiers(
    connection: Connection,
    collections: Sequence[Collection],
    question: str,
    vector: QuestionVector | None,
    *,
    exact_below: int,
) -> OpenedTiers:
    """Open each tier, or tell why it cannot run."""
    extents = read_extents(connection, collections)
    filled = [collection for collection in collections if extents[collection.id].chunks]
    if not filled:
        reason = "no chunk is stored; ingest documents first"
        return OpenedTiers(
            tiers={"dense": reason, "lexical": reason, "identifiers": reason},
            words=QuestionWords(),
        )
    lexical = lexical_tier(connection, filled, extents, question)
    identifiers = identifier_tier(connection, filled, extents, question)
    return OpenedTiers(
        tiers={
            "dense": _dense(connection, filled, extents, vector, exact_below),
            "lexical": lexical,
            "identifiers": identifiers,
        },
        words=QuestionWords(
            lexemes=lexical.word_weights if isinstance(lexical, LexicalTier) else {},
            unknown=lexical.unknown_weight if isinstance(lexical, LexicalTier) else 0.0,
            identifiers=identifiers.rare() if isinstance(identifiers, IdentifierTier) else {},
        ),
    )


def _dense(
    connection: Connection,
    collections: Sequence[Collection],
    extents: Extents,
    vector: QuestionVector | None,
    exact_below: int,
) -> DenseTier | str:
    if vector is None:
        return "the question has no vector"
    alike = [collection for collection in collections if collection.embedder == vector.space]
    if not alike:
        return f"the vectors are of {collections[0].embedder.name}"
    return dense_tier(connection, alike, extents, vector.values, exact_below=exact_below)
