from collections.abc import Sequence
from math import log

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import ChunkId, Collection, EmbedderIdentity
from llmwiki.errors import QuotaExhaustedError, UsageError
from llmwiki.ports import Vectors
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.service import LONGEST_QUESTION, SearchResult, search_passages
from llmwiki.retrieval.tiers import LexicalTier, candidate_terms, lexical_tier, rarity
from llmwiki.store import search
from llmwiki.store.search import Term
from tests.retrieval.conftest import Ingest

DOCUMENTS = {
    "backup.md": "# Backups\n\nA full backup runs on Sunday. Set `max_age` to keep it longer.\n",
    "alerts.md": "# Alerts\n\nA full disk raises an alert. Alerts reach the operator by mail.\n",
    "flags.md": "# Flags\n\nThe option --dry-run shows what would happen. It can't break a disk.\n",
    "other.md": "# Colours\n\nGreen means ready, red means broken, amber means wait.\n",
}


class BrokenEmbedder:
    """A service whose quota is spent."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        self.identity = identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise QuotaExhaustedError(f"no quota for {len(texts)} texts")


def find(engine: Engine, collection: Collection, question: str, limit: int = 5) -> SearchResult:
    return search_passages(engine, HashingEmbedder(), collection, question, limit=limit)


def paths(result: SearchResult) -> list[str]:
    return [hit.passage.document_path for hit in result.hits]


def skipped(result: SearchResult) -> dict[str, str | None]:
    return {tier.name: tier.skipped for tier in result.tiers}


def test_the_passage_that_answers_comes_first(engine: Engine, ingest: Ingest) -> None:
    result = find(engine, ingest(DOCUMENTS), "Who hears that a disk is full?")
    assert paths(result)[0] == "alerts.md"
    first = result.hits[0]
    assert first.passage.breadcrumb == ("Alerts",)
    assert first.passage.page_slug is not None
    assert first.passage.page_compiled is False
    assert {"dense", "lexical"} <= set(first.fused.ranks)


def test_an_identifier_is_found_letter_by_letter(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    assert paths(find(engine, collection, "What does max_age do?"))[0] == "backup.md"
    result = find(engine, collection, "Is --dry-run safe?")
    assert paths(result)[0] == "flags.md"
    assert result.hits[0].fused.ranks["identifiers"] == 1


def test_a_minus_excludes_nothing(engine: Engine, ingest: Ingest) -> None:
    result = find(engine, ingest(DOCUMENTS), "full disk -alert")
    assert paths(result)[0] == "alerts.md"


@pytest.mark.parametrize(
    "question",
    [
        "it's & can't | !",
        "a:* <-> b",
        "'; DROP TABLE chunk; --",
        "\\ \\' 'x",
        "disk\x00full",
        "\udcff",
    ],
)
def test_no_question_is_read_as_syntax(engine: Engine, ingest: Ingest, question: str) -> None:
    assert find(engine, ingest(DOCUMENTS), question).hits


def test_stop_words_alone_leave_the_dense_tier(engine: Engine, ingest: Ingest) -> None:
    result = find(engine, ingest(DOCUMENTS), "what is it")
    assert skipped(result)["dense"] is None
    assert skipped(result)["lexical"] == "the question holds only stop words"
    assert all(set(hit.fused.ranks) == {"dense"} for hit in result.hits)


def test_words_that_no_passage_holds_are_told(engine: Engine, ingest: Ingest) -> None:
    result = find(engine, ingest(DOCUMENTS), "zeppelin")
    assert skipped(result)["lexical"] == "no passage holds a word of the question"


@pytest.mark.parametrize("question", ["", "  \n ", "\x00"])
def test_an_empty_question_is_refused(engine: Engine, ingest: Ingest, question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        find(engine, ingest(DOCUMENTS), question)


def test_a_question_as_long_as_a_document_is_refused(engine: Engine, ingest: Ingest) -> None:
    with pytest.raises(UsageError, match="characters"):
        find(engine, ingest(DOCUMENTS), "word " * LONGEST_QUESTION)


def test_an_embedder_without_quota_leaves_the_words(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    embedder = BrokenEmbedder(collection.embedder)
    result = search_passages(engine, embedder, collection, "full disk", limit=2)
    assert paths(result)[0] == "alerts.md"
    assert "no quota" in (skipped(result)["dense"] or "")


def test_another_vector_space_is_never_compared(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    embedder = BrokenEmbedder(EmbedderIdentity(name="other", dimension=3))
    result = search_passages(engine, embedder, collection, "full disk", limit=2)
    assert "llmwiki reembed --collection test" in (skipped(result)["dense"] or "")
    assert result.hits


def test_a_collection_without_passages_has_no_hits(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    with engine.connect() as connection:
        connection.execute(text("DELETE FROM document"))
        connection.commit()
    assert find(engine, collection, "full disk").hits == ()


def test_the_limit_holds_and_the_order_is_the_same_each_time(
    engine: Engine, ingest: Ingest
) -> None:
    collection = ingest(DOCUMENTS)
    first = find(engine, collection, "full disk", limit=3)
    assert len(first.hits) == 3
    assert first == find(engine, collection, "full disk", limit=3)
    assert paths(find(engine, collection, "full disk", limit=1)) == paths(first)[:1]


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
