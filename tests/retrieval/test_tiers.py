from math import log

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import ChunkId
from llmwiki.retrieval.tiers import LexicalTier, candidate_terms, lexical_tier, rarity
from llmwiki.store import search
from llmwiki.store.search import Term
from tests.retrieval.conftest import DOCUMENTS, Ingest


def test_words_are_scored_as_bm25_says(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        extent = search.extent_of(connection, collection)
        tier = lexical_tier(connection, collection, extent, "alerts")
        assert isinstance(tier, LexicalTier)
        [(chunk_id, score)] = tier.find(connection, 10)
        row = connection.execute(
            text("SELECT token_count, lexemes::text AS lexemes FROM chunk WHERE id = :id"),
            {"id": chunk_id},
        ).one()
    assert "'alert':" in row.lexemes
    positions = row.lexemes.partition("'alert':")[2].partition(" ")[0]
    count = positions.count(",") + 1
    assert count == 3
    length = 1 - 0.75 + 0.75 * row.token_count / extent.mean_tokens
    expected = log(1 + (4 - 1 + 0.5) / (1 + 0.5)) * count * 2.2 / (count + 1.2 * length)
    assert score == pytest.approx(expected)


def test_completing_agrees_with_finding(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        extent = search.extent_of(connection, collection)
        tier = lexical_tier(connection, collection, extent, "a full disk alert")
        assert isinstance(tier, LexicalTier)
        found = dict(tier.find(connection, 10))
        everything = connection.execute(text("SELECT id FROM chunk")).scalars().all()
        completed = dict(tier.complete(connection, map(ChunkId, everything)))
    assert {key: completed[key] for key in found} == pytest.approx(found)
    assert all(score == 0 for key, score in completed.items() if key not in found)


def test_the_rarest_terms_are_searched_within_the_budget() -> None:
    terms = [
        Term(lexeme=lexeme, quoted=f"'{lexeme}'", frequency=frequency)
        for lexeme, frequency in (("common", 900), ("rare", 5), ("middling", 90))
    ]
    assert [term.lexeme for term in candidate_terms(terms, 100)] == ["rare", "middling"]
    assert [term.lexeme for term in candidate_terms(terms, 1)] == ["rare"]
    assert len(candidate_terms(terms, 10_000)) == 3


def test_rarity_falls_with_frequency_and_stays_above_zero() -> None:
    assert rarity(100, 1) > rarity(100, 50) > rarity(100, 100) > 0
