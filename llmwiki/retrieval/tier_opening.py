"""Opens the flat tiers of one question over one collection or several."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.embedding import QuestionVector
from llmwiki.retrieval.pool import OpenedTiers, TierName
from llmwiki.retrieval.tiers import DenseTier, LexicalTier, Tier, identifier_tier, lexical_tier
from llmwiki.store import search
from llmwiki.store.search import Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTier:
    """One kind of tier over several collections. Their scores share a scale, if not its base."""

    tiers: Sequence[Tier]

    @property
    def name(self) -> str:
        """The name of all of them."""
        return self.tiers[0].name

    @property
    def method(self) -> str:
        """The methods that run, each once."""
        return ", ".join(dict.fromkeys(tier.method for tier in self.tiers))

    def find(self, connection: Connection, count: int) -> Scored:
        """Return the best of what all of them find."""
        found = [scored for tier in self.tiers for scored in tier.find(connection, count)]
        return sorted(found, key=lambda scored: (-scored[1], scored[0]))[:count]

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the passages, each by the tier that knows it."""
        asked = list(ids)
        scores: dict[ChunkId, float] = {}
        for tier in self.tiers:
            for chunk_id, score in tier.complete(connection, asked):
                scores[chunk_id] = max(score, scores.get(chunk_id, score))
        return list(scores.items())


def open_tiers(
    connection: Connection,
    collections: Sequence[Collection],
    question: str,
    vector: QuestionVector | None,
) -> OpenedTiers:
    """Open each tier, or tell why it cannot run."""
    opened: dict[TierName, list[Tier | str]] = {"dense": [], "lexical": [], "identifiers": []}
    for collection in collections:
        extent = search.extent_of(connection, collection)
        if not extent.passages:
            for tiers in opened.values():
                tiers.append(f"collection {collection.name} has no passages")
            continue
        opened["dense"].append(_dense(collection, vector))
        opened["lexical"].append(lexical_tier(connection, collection, extent, question))
        opened["identifiers"].append(identifier_tier(connection, collection, extent, question))
    return OpenedTiers(
        tiers={name: _merged(tiers) for name, tiers in opened.items()},
        word_weights={
            lexeme: weight
            for tier in opened["lexical"]
            if isinstance(tier, LexicalTier)
            for lexeme, weight in tier.query.weights.items()
        },
    )


def _dense(collection: Collection, vector: QuestionVector | None) -> Tier | str:
    if vector is None:
        return "the question has no vector"
    if vector.space != collection.embedder:
        return f"collection {collection.name} is embedded with {collection.embedder.name}"
    return DenseTier(collection=collection, vector=vector.values)


def _merged(opened: Sequence[Tier | str]) -> Tier | str:
    tiers = [tier for tier in opened if not isinstance(tier, str)]
    if len(tiers) > 1:
        return MergedTier(tiers=tiers)
    return tiers[0] if tiers else str(opened[0])
