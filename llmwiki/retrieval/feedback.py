"""Asks again with the words of the best passages: pseudo-relevance feedback, at no model's cost.

The relevance model RM3 (Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD"), within the
pool: words that the best passages use, weighed by how good these are and how rare the words, are
added to the question, and every candidate's lexical score is taken anew. Nothing is searched
again, so that a bad guess cannot bring in passages that no tier found.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

from sqlalchemy import Connection

from llmwiki.config import RetrievalSettings
from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.pool import Pool, score_again
from llmwiki.retrieval.tiers import LexicalTier
from llmwiki.store.search_words import WeightedTerm, WordQuery
from llmwiki.store.word_statistics import (
    Extent,
    lexeme_frequencies,
    passage_lexemes,
    rarity,
    read_extents,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackDetail(Detail):
    """The words that were added to the question, the weightiest first."""

    kind: Literal["feedback"] = "feedback"
    passages: int
    lexemes: tuple[str, ...]


def ask_again(
    connection: Connection,
    pool: Pool,
    collections: Sequence[Collection],
    settings: RetrievalSettings,
    trace: Trace,
) -> Pool:
    """Return the pool with lexical scores for the question and the words of its best passages.

    Left as it is where no word of the question was found, or where scores do not count.
    """
    chosen = settings.feedback
    with trace.step("feedback") as step:
        lexical = next((tier for tier in pool.tiers if isinstance(tier, LexicalTier)), None)
        if not chosen.weight or settings.fusion in {"rrf", "min-max"}:
            step.skip("off", "no weight, or a fusion that takes no completed scores")
            return pool
        if lexical is None or len(pool.candidates) < 2:
            step.skip("no-words", "no tier found words of the question in several passages")
            return pool
        best = pool.candidates[: chosen.passages]
        held = passage_lexemes(connection, [candidate.id for candidate in best])
        model = relevance_model(best, held)
        extent = sum(read_extents(connection, collections).values(), Extent())
        frequencies = lexeme_frequencies(connection, collections, list(model))
        words = choose_words(
            {
                lexeme: share * rarity(extent.passages, frequencies.get(lexeme, 0))
                for lexeme, share in model.items()
                if lexeme not in lexical.word_weights
            },
            chosen.terms,
        )
        if not words:
            step.skip("no-words", "the best passages add no word to the question")
            return pool
        # All added words together weigh a share of the words that were asked for.
        mass = chosen.weight * max(len(lexical.word_weights), 1) / sum(words.values())
        added = [
            WeightedTerm(
                collection_id=collection.id,
                lexeme=lexeme,
                weight=mass * score * rarity(extent.passages, frequencies.get(lexeme, 0)),
                mean_length=extent.mean_length,
            )
            for lexeme, score in words.items()
            for collection in collections
        ]
        asked = [*lexical.query.searched, *lexical.query.others]
        tier = replace(lexical, query=WordQuery(searched=asked, others=added))
        step.done(FeedbackDetail(passages=len(best), lexemes=tuple(words)))
        return score_again(connection, pool, tier, settings)


def relevance_model(
    best: Sequence[Candidate], held: Mapping[ChunkId, Mapping[str, int]]
) -> dict[str, float]:
    """Return the share of each lexeme in the passages, each passage weighed by its score.

    Passages weigh by the exponential of their score, together 1. A lexeme that only one of them
    holds says nothing of the others, and is left out.
    """
    weights = {each.id: exp(each.score - best[0].score) for each in best if held.get(each.id)}
    total = sum(weights.values())
    model: dict[str, float] = {}
    for chunk_id, weight in weights.items():
        length = sum(held[chunk_id].values())
        for lexeme, occurrences in held[chunk_id].items():
            model[lexeme] = model.get(lexeme, 0.0) + weight / total * occurrences / length
    holders = Counter(lexeme for chunk_id in weights for lexeme in held[chunk_id])
    return {lexeme: share for lexeme, share in model.items() if holders[lexeme] > 1}


def choose_words(scores: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the words with the highest scores, ties in alphabetical order."""
    ranked = sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
    return {lexeme: score for lexeme, score in ranked[:count] if score > 0}
