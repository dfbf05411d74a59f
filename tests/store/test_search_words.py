from collections.abc import Mapping

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import Collection, DocumentId, EmbedderIdentity
from llmwiki.retrieval.tiers import LexicalTier, identifier_tier, lexical_tier
from llmwiki.store import chunks, collections, documents
from llmwiki.store.chunks import ChunkValues
from llmwiki.store.search_words import WeightedTerm, WordQuery, find_by_words
from llmwiki.store.word_statistics import read_extents
from llmwiki.text.identifiers import find_identifiers
from tests.support.documents import plain_document

GERMAN = {
    "pumpe.md": "Die Pumpen werden jeden Sonntag gewartet und danach geprüft.",
    "ventil.md": "Ein Ventil schließt, sobald der Druck der Pumpe steigt.",
    "farbe.md": "Grün heißt bereit, rot heißt kaputt.",
}
ENGLISH = {
    "pump.md": "The pumps are serviced each Sunday, then checked with --dry-run.",
    "valve.md": "A valve closes once the pressure rises. See docs.example.com/valves/closing.",
    "colour.md": "Green means ready, red means broken.",
}


def store(
    engine: Engine, texts: Mapping[str, str], config: str = "english", name: str = "docs"
) -> tuple[Collection, dict[str, DocumentId]]:
    """Store a document of one chunk for each text, in a collection of that language."""
    with engine.connect() as connection:
        identity = EmbedderIdentity(name="none", dimension=1)
        created = collections.create_collection(connection, name, "system", identity)
        connection.execute(
            text("UPDATE collection SET text_search_config = :config WHERE id = :id"),
            {"config": config, "id": created.id},
        )
        [collection] = collections.select_collections(connection, name=name)
        ids = {}
        for path, words in texts.items():
            values = plain_document(path)
            ids[path] = documents.save_document(connection, collection, values, None)
            [section] = chunks.insert_chunks(
                connection, collection, ids[path], [(None, _chunk(words, None))]
            )
            chunks.insert_chunks(
                connection, collection, ids[path], [(section, _chunk(words, words))]
            )
        connection.commit()
    return collection, ids


def _chunk(words: str, search_text: str | None) -> ChunkValues:
    return ChunkValues(
        position=0,
        breadcrumb=(),
        text=words,
        content_hash="",
        token_count=1,
        identifiers=find_identifiers(words),
        search_text=search_text,
    )


def ask(engine: Engine, question: str, *asked: Collection) -> dict[str, float]:
    """Return the scores of the chunks found by the documents' paths, the best first."""
    with engine.connect() as connection:
        tier = lexical_tier(connection, asked, read_extents(connection, asked), question)
        if isinstance(tier, str):
            return {}
        found = tier.find(connection, 10)
        paths = connection.execute(
            text("SELECT c.id, d.path FROM chunk c JOIN document d ON d.id = c.document_id")
        )
        by_id = {row.id: row.path for row in paths}
    return {by_id[chunk_id]: score for chunk_id, score in found}


@pytest.mark.parametrize(
    ("config", "question", "found"),
    [
        ("german", "Wann wird die Pumpe gewartet?", ["pumpe.md", "ventil.md"]),
        ("german", "schliessende Ventile", ["ventil.md"]),
        ("simple", "Pumpen", ["pumpe.md"]),
        ("simple", "die", ["pumpe.md"]),
    ],
)
def test_words_are_those_of_the_language_of_the_collection(
    engine: Engine, config: str, question: str, found: list[str]
) -> None:
    collection, _ = store(engine, GERMAN, config)
    assert list(ask(engine, question, collection)) == found


def test_a_word_inside_of_an_address_or_a_compound_is_found(engine: Engine) -> None:
    collection, _ = store(engine, ENGLISH)
    assert list(ask(engine, "closing", collection)) == ["valve.md"]
    assert list(ask(engine, "what is dry", collection)) == ["pump.md"]


def test_several_collections_share_the_rarity_of_words(engine: Engine) -> None:
    first, _ = store(engine, ENGLISH, name="first")
    second, _ = store(engine, {"other.md": "Pumps and pumps of green pumps."}, name="second")
    alone = ask(engine, "green pumps", first)
    both = ask(engine, "green pumps", first, second)
    assert set(both) == {"pump.md", "colour.md", "other.md"}
    assert next(iter(both)) == "other.md"
    assert both["pump.md"] < alone["pump.md"]


def test_collections_of_two_languages_are_asked_each_in_its_own(engine: Engine) -> None:
    english, _ = store(engine, ENGLISH, name="english")
    german, _ = store(engine, GERMAN, "german", name="german")
    assert set(ask(engine, "pumps Pumpe", english, german)) == {"pump.md", "pumpe.md", "ventil.md"}


def test_a_search_in_some_documents_finds_nothing_elsewhere(engine: Engine) -> None:
    collection, ids = store(engine, ENGLISH)
    with engine.connect() as connection:
        extents = read_extents(connection, [collection])
        words = lexical_tier(connection, [collection], extents, "green pump --dry-run")
        names = identifier_tier(connection, [collection], extents, "--dry-run")
        assert not isinstance(words, str)
        assert not isinstance(names, str)
        assert len(words.find(connection, 10)) == 2
        assert len(words.find(connection, 10, [ids["colour.md"]])) == 1
        assert words.find(connection, 10, []) == []
        assert len(names.find(connection, 10, [ids["pump.md"]])) == 1
        assert names.find(connection, 10, [ids["colour.md"]]) == []


def test_words_that_only_count_add_to_the_score_and_bring_in_nothing(engine: Engine) -> None:
    collection, _ = store(engine, ENGLISH)

    def term(lexeme: str) -> WeightedTerm:
        return WeightedTerm(collection_id=collection.id, lexeme=lexeme, weight=1.0, mean_length=9.0)

    with engine.connect() as connection:
        every = WordQuery(searched=[term("green"), term("red"), term("pump")], others=[])
        some = WordQuery(searched=[term("green")], others=[term("red"), term("pump")])
        all_found = find_by_words(connection, every, limit=10)
        some_found = find_by_words(connection, some, limit=10)
    assert len(all_found) == 2
    assert some_found == [pytest.approx(all_found[0])]


def test_a_question_of_thousands_of_words_is_answered(engine: Engine) -> None:
    collection, _ = store(engine, ENGLISH)
    question = " ".join(f"word{number}" for number in range(800)) + " pump"
    assert list(ask(engine, question, collection)) == ["pump.md"]


def test_why_there_is_no_tier_is_told(engine: Engine) -> None:
    collection, _ = store(engine, ENGLISH)
    with engine.connect() as connection:
        extents = read_extents(connection, [collection])
        reasons = [
            lexical_tier(connection, [collection], extents, question)
            for question in ("what is it", "!?", "zeppelin")
        ]
        assert not any(isinstance(reason, LexicalTier) for reason in reasons)
        assert reasons == [
            "the question holds only stop words",
            "the question holds only stop words",
            "no chunk holds a word of the question",
        ]
