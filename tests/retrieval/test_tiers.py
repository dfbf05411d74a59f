from collections.abc import Mapping
from math import log

import pytest
from sqlalchemy import Connection, Engine, text

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.searched_terms import searched_terms
from llmwiki.retrieval.tiers import LexicalTier, lexical_tier
from llmwiki.store.search_words import LENGTH_WEIGHT, TERM_SATURATION
from llmwiki.store.word_statistics import Term, rarity, read_extents
from tests.retrieval.conftest import DOCUMENTS, Ingest


def lexical(connection: Connection, question: str, *collections: Collection) -> LexicalTier:
    extents = read_extents(connection, collections)
    tier = lexical_tier(connection, collections, extents, question)
    assert isinstance(tier, LexicalTier)
    return tier


def test_words_are_scored_as_bm25_says(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        [(chunk_id, score)] = lexical(connection, "alerts", collection).find(connection, 10)
        rows = connection.execute(
            text(
                """SELECT id, (SELECT sum(cardinality(positions)) FROM unnest(lexemes)) AS length
                   FROM chunk WHERE parent_id IS NOT NULL"""
            )
        )
        lengths = {row.id: int(row.length) for row in rows}
    count = 3  # in the heading, and twice in the text
    length = lengths[chunk_id] / (sum(lengths.values()) / len(lengths))
    saturation = TERM_SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    expected = log(1 + (4 - 1 + 0.5) / (1 + 0.5)) * count * 2.2 / (count + saturation)
    assert score == pytest.approx(expected)


def test_a_word_counts_as_often_as_the_question_has_it(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        [(_, once)] = lexical(connection, "alerts", collection).find(connection, 10)
        [(_, twice)] = lexical(connection, "alerts on alerts", collection).find(connection, 10)
    assert twice == pytest.approx(2 * once)


def test_completing_agrees_with_finding(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        tier = lexical(connection, "a full disk alert", collection)
        found = dict(tier.find(connection, 10))
        everything = connection.execute(text("SELECT id FROM chunk")).scalars().all()
        completed = dict(tier.complete(connection, map(ChunkId, everything)))
    assert {key: completed[key] for key in found} == pytest.approx(found)
    assert all(score == 0 for key, score in completed.items() if key not in found)


def terms(**frequencies: int) -> list[Term]:
    return [
        Term(lexeme=lexeme, occurrences=1, frequency=frequency)
        for lexeme, frequency in frequencies.items()
    ]


def chosen(weights: Mapping[Term, float]) -> set[str]:
    return {term.lexeme for term in searched_terms(weights)}


def test_every_word_is_searched_for_while_that_costs_little() -> None:
    common, rare = terms(common=11_000, rare=5)
    assert chosen({common: 0.01, rare: 9.0}) == {"common", "rare"}


def test_a_common_word_of_little_weight_is_not_searched_for() -> None:
    common, rare, middling = terms(common=30_000, rare=5, middling=900)
    assert chosen({common: 0.5, rare: 9.0, middling: 4.0}) == {"rare", "middling"}
    assert chosen({common: 4.0, rare: 9.0, middling: 4.0}) == {"rare", "middling", "common"}


def test_a_long_question_is_searched_by_its_rarest_words() -> None:
    many = terms(**{f"word{number}": 15_000 + number for number in range(9)})
    assert chosen(dict.fromkeys(many, 1.0)) == {"word0", "word1"}
    [alone] = terms(alone=900_000)
    assert chosen({alone: 0.1}) == {"alone"}


def test_rarity_falls_with_frequency_and_stays_above_zero() -> None:
    assert rarity(100, 1) > rarity(100, 50) > rarity(100, 100) > 0
