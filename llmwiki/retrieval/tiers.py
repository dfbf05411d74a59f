"""The flat tiers of retrieval: each finds chunks in its own way, and scores those of the others.

A tier works over one collection or several.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, CollectionId, DocumentId
from llmwiki.retrieval.blend import rare_identifiers
from llmwiki.retrieval.searched_terms import searched_terms
from llmwiki.store import search_identifiers, search_vectors, search_words
from llmwiki.store.scored import Scored
from llmwiki.store.search_words import WeightedTerm, WordQuery
from llmwiki.store.vector_indexes import VectorIndex, find_vector_index
from llmwiki.store.word_statistics import Extent, Term, question_terms, rarity
from llmwiki.text.identifiers import find_identifiers

Extents = Mapping[CollectionId, Extent]
"""The size of each collection."""

Documents = Iterable[DocumentId] | None
"""Documents that a search keeps to; None: all of them."""


class Tier(Protocol):
    """One way to find chunks."""

    @property
    def name(self) -> str:
        """How events and results call it."""
        ...

    @property
    def method(self) -> str:
        """How it really works: ``exact`` or ``hnsw``, ``bm25``, ``identifiers``."""
        ...

    def find(self, connection: Connection, count: int, documents: Documents = None) -> Scored:
        """Return the best chunks of the collections, of these documents where given."""
        ...

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given chunks; one that has no score is left out."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseTier:
    """Chunks whose vectors point where the question's does."""

    collections: Sequence[Collection]
    vector: npt.NDArray[np.float32]
    indexes: Mapping[CollectionId, VectorIndex]
    """Of collections that have one; the others are scanned."""
    name: str = "dense"

    @property
    def method(self) -> str:
        """``exact``, ``hnsw``, or both where collections differ."""
        methods = {"hnsw" if each.id in self.indexes else "exact" for each in self.collections}
        return ", ".join(sorted(methods))

    def find(self, connection: Connection, count: int, documents: Documents = None) -> Scored:
        """Return the nearest chunks."""
        only = None if documents is None else list(documents)
        return _best(
            (
                search_vectors.find_by_vector(
                    connection,
                    collection,
                    self.vector,
                    limit=count,
                    index=self.indexes.get(collection.id),
                    documents=only,
                )
                for collection in self.collections
            ),
            count,
        )

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Return how near the given chunks are."""
        asked = list(ids)
        return _best(
            (
                search_vectors.score_by_vector(connection, collection, self.vector, asked)
                for collection in self.collections
            ),
            len(asked),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalTier:
    """Chunks that hold words of the question, by BM25."""

    query: WordQuery
    word_weights: Mapping[str, float]
    """The rarity of each lexeme of the question that a chunk holds."""
    unknown_weight: float = 0.0
    """The rarity of all others together."""
    name: str = "lexical"
    method: str = "bm25"

    def find(self, connection: Connection, count: int, documents: Documents = None) -> Scored:
        """Return the chunks that the rarer words speak for."""
        return search_words.find_by_words(connection, self.query, limit=count, documents=documents)

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given chunks; holding no word is a score of zero."""
        return search_words.score_by_words(connection, self.query, ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierTier:
    """Chunks that hold an identifier of the question letter by letter."""

    collections: Sequence[Collection]
    weights: Mapping[str, float]
    frequencies: Mapping[str, int]
    """Chunks that hold each of them."""
    chunks: int
    name: str = "identifiers"
    method: str = "identifiers"

    def find(self, connection: Connection, count: int, documents: Documents = None) -> Scored:
        """Return the chunks with the most and the rarest identifiers."""
        return search_identifiers.find_by_identifiers(
            connection, self.collections, self.weights, limit=count, documents=documents
        )

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given chunks; holding no identifier is a score of zero."""
        return search_identifiers.score_by_identifiers(
            connection, self.collections, self.weights, ids
        )

    def rare(self) -> Mapping[str, float]:
        """Return the weights of those that tell chunks apart."""
        return rare_identifiers(self.weights, self.frequencies, self.chunks)


def dense_tier(
    connection: Connection,
    collections: Sequence[Collection],
    extents: Extents,
    vector: npt.NDArray[np.float32],
    *,
    exact_below: int,
) -> DenseTier:
    """Return the tier for the question's vector; the collections share its space.

    Up to ``exact_below`` chunks a collection is scanned, even where it has an index.
    """
    indexes = {
        collection.id: index
        for collection in collections
        if extents[collection.id].chunks > exact_below
        and (index := find_vector_index(connection, collection)) is not None
    }
    return DenseTier(collections=collections, vector=vector, indexes=indexes)


def lexical_tier(
    connection: Connection, collections: Sequence[Collection], extents: Extents, question: str
) -> LexicalTier | str:
    """Return the tier for the words of the question, or why there is none.

    A word is as rare as it is in all the collections whose lexemes are made the same way.
    """
    searched: list[WeightedTerm] = []
    others: list[WeightedTerm] = []
    weights: dict[str, float] = {}
    terms: list[Term] = []
    for _, group in groupby(sorted(collections, key=_language), key=_language):
        alike = list(group)
        extent = _together(alike, extents)
        asked = question_terms(connection, alike, question)
        terms += asked
        known = [term for term in asked if term.frequency]
        rarities = {term: rarity(extent.chunks, term.frequency) for term in known}
        candidates = searched_terms({term: rarities[term] * term.occurrences for term in known})
        for term in known:
            weights[term.lexeme] = rarities[term]
            chosen = searched if term in candidates else others
            weight = rarities[term] * term.occurrences
            chosen += _weighted(alike, term.lexeme, weight, extent.mean_length)
    if not terms:
        return "the question holds only stop words"
    if not searched:
        return "no chunk holds a word of the question"
    unknown = {term.lexeme for term in terms}.difference(weights)
    return LexicalTier(
        query=WordQuery(searched=searched, others=others),
        word_weights=weights,
        unknown_weight=len(unknown) * rarity(_together(collections, extents).chunks, 0),
    )


def identifier_tier(
    connection: Connection, collections: Sequence[Collection], extents: Extents, question: str
) -> IdentifierTier | str:
    """Return the tier for the identifiers of the question, or why there is none."""
    names = find_identifiers(question)
    if not names:
        return "the question holds no identifier"
    frequencies = search_identifiers.identifier_frequencies(connection, collections, names)
    chunks = _together(collections, extents).chunks
    weights = {
        name: rarity(chunks, frequency) for name, frequency in frequencies.items() if frequency
    }
    if not weights:
        return "no chunk holds an identifier of the question"
    return IdentifierTier(
        collections=collections, weights=weights, frequencies=frequencies, chunks=chunks
    )


def _together(collections: Iterable[Collection], extents: Extents) -> Extent:
    return sum((extents[collection.id] for collection in collections), Extent())


def _weighted(
    collections: Sequence[Collection], lexeme: str, weight: float, mean_length: float
) -> Iterable[WeightedTerm]:
    for collection in collections:
        yield WeightedTerm(
            collection_id=collection.id, lexeme=lexeme, weight=weight, mean_length=mean_length
        )


def _best(found: Iterable[Scored], count: int) -> Scored:
    everything = [scored for part in found for scored in part]
    return sorted(everything, key=lambda scored: (-scored[1], scored[0]))[:count]


def _language(collection: Collection) -> str:
    return collection.text_search_config
