"""The tiers of retrieval: each finds passages in its own way, and scores those of the others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.store import search
from llmwiki.store.search import Extent, Scored, Term, WordQuery
from llmwiki.text.identifiers import find_identifiers

CANDIDATE_BUDGET = 12_000
"""Passages that words are scored in at most. Common words score, but are not searched for: at 36
thousand passages this kept .997 of the ten best at a third of the time (retrieval measurements)."""


class Tier(Protocol):
    """One way to find passages."""

    @property
    def name(self) -> str:
        """How events and results call it."""
        ...

    @property
    def method(self) -> str:
        """How it really works: ``exact`` or ``hnsw``, ``bm25``, ``identifiers``."""
        ...

    def find(self, connection: Connection, count: int) -> Scored:
        """Return the best passages of the collection."""
        ...

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given passages; one that has no score is left out."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseTier:
    """Passages whose vectors point where the question's does, by an exact scan."""

    collection: Collection
    vector: npt.NDArray[np.float32]
    name: str = "dense"
    method: str = "exact"

    def find(self, connection: Connection, count: int) -> Scored:
        """Return the nearest passages."""
        return search.score_vectors(connection, self.collection, self.vector, limit=count)

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Return how near the given passages are."""
        return search.score_vectors(connection, self.collection, self.vector, among=ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalTier:
    """Passages that hold words of the question, by BM25."""

    collection: Collection
    query: WordQuery
    name: str = "lexical"
    method: str = "bm25"

    def find(self, connection: Connection, count: int) -> Scored:
        """Return the passages that the rarer words speak for."""
        return search.score_words(connection, self.collection, self.query, limit=count)

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given passages; holding no word is a score of zero."""
        ids = list(ids)
        return _with_zeros(
            ids, search.score_words(connection, self.collection, self.query, among=ids)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierTier:
    """Passages that hold an identifier of the question letter by letter."""

    collection: Collection
    weights: Mapping[str, float]
    name: str = "identifiers"
    method: str = "identifiers"

    def find(self, connection: Connection, count: int) -> Scored:
        """Return the passages with the most and the rarest identifiers."""
        return search.score_identifiers(connection, self.collection, self.weights, limit=count)

    def complete(self, connection: Connection, ids: Iterable[ChunkId]) -> Scored:
        """Score the given passages; holding no identifier is a score of zero."""
        ids = list(ids)
        found = search.score_identifiers(connection, self.collection, self.weights, among=ids)
        return _with_zeros(ids, found)


def lexical_tier(
    connection: Connection, collection: Collection, extent: Extent, question: str
) -> LexicalTier | str:
    """Return the tier for the words of the question, or why there is none."""
    terms = search.question_terms(connection, collection, question)
    if not terms:
        return "the question holds only stop words"
    known = [term for term in terms if term.frequency]
    if not known:
        return "no passage holds a word of the question"
    return LexicalTier(
        collection=collection,
        query=WordQuery(
            weights={term.lexeme: rarity(extent.passages, term.frequency) for term in known},
            candidate_terms=candidate_terms(known, CANDIDATE_BUDGET),
            mean_tokens=extent.mean_tokens,
        ),
    )


def identifier_tier(
    connection: Connection, collection: Collection, extent: Extent, question: str
) -> IdentifierTier | str:
    """Return the tier for the identifiers of the question, or why there is none."""
    names = find_identifiers(question)
    if not names:
        return "the question holds no identifier"
    frequencies = search.identifier_frequencies(connection, collection, names)
    weights = {
        name: rarity(extent.passages, frequency)
        for name, frequency in frequencies.items()
        if frequency
    }
    if not weights:
        return "no passage holds an identifier of the question"
    return IdentifierTier(collection=collection, weights=weights)


def rarity(passages: int, frequency: int) -> float:
    """Return the inverse document frequency of BM25 (Robertson and Zaragoza 2009), above zero."""
    return log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


def candidate_terms(terms: Sequence[Term], budget: int) -> tuple[Term, ...]:
    """Return the rarest terms whose frequencies add up to the budget; always the rarest one."""
    chosen: list[Term] = []
    passages = 0
    for term in sorted(terms, key=lambda term: (term.frequency, term.lexeme)):
        passages += term.frequency
        if chosen and passages > budget:
            break
        chosen.append(term)
    return tuple(chosen)


def _with_zeros(ids: Iterable[ChunkId], found: Scored) -> Scored:
    return list((dict.fromkeys(ids, 0.0) | dict(found)).items())
