from collections.abc import Mapping, Sequence

import pytest
from sqlalchemy import Engine, text

from llmwiki.config import RetrievalSettings
from llmwiki.config.retrieval import TierWeights
from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import (
    ProviderError,
    QuotaExhaustedError,
    TransientProviderError,
    UnknownNameError,
    UsageError,
)
from llmwiki.ports import Embedder, Vectors
from llmwiki.providers.clock import SystemClock
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import Event
from llmwiki.retrieval.question import LONGEST_QUESTION
from llmwiki.retrieval.service import retrieve
from tests.retrieval.conftest import DOCUMENTS, Ingest


class BrokenEmbedder:
    """A service that fails in the given way."""

    def __init__(self, identity: EmbedderIdentity, error: ProviderError) -> None:
        self.identity = identity
        self.error = error

    def embed(self, texts: Sequence[str]) -> Vectors:
        del texts
        raise self.error


def parts(
    engine: Engine, embedder: Embedder | None = None, settings: Mapping[str, object] | None = None
) -> Parts:
    return Parts(
        engine=engine,
        embedder=embedder or HashingEmbedder(),
        clock=SystemClock(),
        settings=RetrievalSettings.model_validate(settings or {}),
    )


def find(engine: Engine, question: str, **settings: object) -> Context:
    return retrieve(parts(engine, settings=settings), question)


def paths(context: Context) -> list[str]:
    return [candidate.chunk.document_path for candidate in context.ranking]


def ending(context: Context, step: str) -> Event:
    [event] = [each for each in context.events if each.step == step and each.status != "active"]
    return event


def test_the_chunk_that_answers_comes_first(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    context = find(engine, "Who hears that a disk is full?")
    assert paths(context)[0] == "alerts.md"
    first = context.ranking[0]
    assert first.chunk.breadcrumb == ("Alerts",)
    assert first.chunk.page_slug is not None
    assert first.chunk.page_compiled is False
    assert {"dense", "lexical"} <= set(first.ranks)
    assert context.blocks[0].citation == "alerts.md > Alerts"


def test_an_identifier_is_found_letter_by_letter(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    assert paths(find(engine, "What does max_age do?"))[0] == "backup.md"
    context = find(engine, "Is --dry-run safe?")
    assert context.route == "identifier"
    assert paths(context)[0] == "flags.md"
    assert context.ranking[0].ranks["identifiers"] == 1


def test_a_minus_excludes_nothing(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    assert paths(find(engine, "full disk -alert"))[0] == "alerts.md"


@pytest.mark.parametrize(
    "question",
    [
        "it's & can't | !",
        "a:* <-> b",
        "-flag ! :*",
        "'; DROP TABLE chunk; --",
        "\\ \\' 'x",
        '"disk" AND (full OR NOT alert)',
        "disk\x00full",
        "\udcff",
        "🔥🔥 💾",
        "何がディスクを満たすのか",
        "Что делать, если диск полон?",
    ],
)
def test_no_question_is_read_as_syntax(engine: Engine, ingest: Ingest, question: str) -> None:
    ingest(DOCUMENTS)
    assert find(engine, question).ranking


def test_every_step_begins_and_ends_once_and_takes_its_time(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    events = find(engine, "How do I use alerts?").events
    begun = [event.step for event in events if event.status == "active"]
    ended = [event.step for event in events if event.status != "active"]
    assert sorted(begun) == sorted(ended)
    assert len(set(ended)) == len(ended)
    assert all(event.duration_ms is not None for event in events if event.status != "active")
    assert [event.at_ms for event in events] == sorted(event.at_ms for event in events)
    assert all(event.reason for event in events if event.status == "skipped")


def test_stop_words_alone_leave_the_dense_tier(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    context = find(engine, "what is it")
    assert ending(context, "dense").status == "done"
    assert ending(context, "lexical").message == "the question holds only stop words"
    assert all(set(candidate.ranks) == {"dense"} for candidate in context.ranking)
    assert ending(context, "fuse").reason == "single-tier"


def test_words_that_no_chunk_holds_are_told(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    context = find(engine, "zeppelin")
    assert ending(context, "lexical").message == "no chunk holds a word of the question"


@pytest.mark.parametrize("question", ["", "  \n ", "\x00"])
def test_an_empty_question_is_refused(engine: Engine, ingest: Ingest, question: str) -> None:
    ingest(DOCUMENTS)
    with pytest.raises(UsageError, match="empty"):
        find(engine, question)


def test_a_question_as_long_as_a_document_is_refused(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    with pytest.raises(UsageError, match="characters"):
        find(engine, "w" * (LONGEST_QUESTION + 1))
    with pytest.raises(UsageError, match="100000 characters"):
        find(engine, "word " * 19_999 + "words")


def test_a_database_without_collections_says_what_to_do(engine: Engine) -> None:
    with pytest.raises(UsageError, match="llmwiki ingest"):
        find(engine, "full disk")


def test_an_owner_without_documents_is_told_nothing_of_others(
    engine: Engine, ingest: Ingest
) -> None:
    ingest(DOCUMENTS)
    with pytest.raises(UnknownNameError, match="of owner nobody; known: none of theirs") as caught:
        retrieve(parts(engine), "full disk", owners=["nobody"])
    assert "system" not in str(caught.value)


def test_an_embedder_without_quota_leaves_the_words(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    embedder = BrokenEmbedder(collection.embedder, QuotaExhaustedError("no quota"))
    context = retrieve(parts(engine, embedder), "full disk")
    assert paths(context)[0] == "alerts.md"
    assert (ending(context, "embed").status, ending(context, "embed").reason) == (
        "skipped",
        "quota",
    )
    assert ending(context, "dense").message == "the question has no vector"


def test_an_embedder_that_is_down_is_told_as_an_error(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    embedder = BrokenEmbedder(collection.embedder, TransientProviderError("the service is down"))
    context = retrieve(parts(engine, embedder), "full disk")
    assert paths(context)[0] == "alerts.md"
    event = ending(context, "embed")
    assert (event.status, event.error) == ("error", "TransientProviderError")


def test_another_vector_space_is_never_compared(engine: Engine, ingest: Ingest) -> None:
    collection = ingest(DOCUMENTS)
    other = EmbedderIdentity(name="other", dimension=3)
    embedder = BrokenEmbedder(other, QuotaExhaustedError("never asked"))
    context = retrieve(parts(engine, embedder), "full disk")
    assert f"llmwiki reembed --collection {collection.name}" in (
        ending(context, "embed").message or ""
    )
    assert paths(context)[0] == "alerts.md"


def test_an_empty_collection_gives_an_honest_empty_context(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    with engine.connect() as connection:
        connection.execute(text("DELETE FROM document"))
        connection.commit()
    context = find(engine, "full disk")
    assert (context.ranking, context.blocks, context.has_evidence) == ((), (), False)
    assert ending(context, "lexical").message == "no chunk is stored; ingest documents first"
    assert ending(context, "context").reason == "empty"


def test_the_limit_holds_and_the_order_is_the_same_each_time(
    engine: Engine, ingest: Ingest
) -> None:
    ingest(DOCUMENTS)
    first = find(engine, "full disk", limit=3)
    assert len(first.ranking) == 3
    assert first.ranking == find(engine, "full disk", limit=3).ranking
    assert paths(find(engine, "full disk", limit=1)) == paths(first)[:1]


@pytest.mark.parametrize("method", ["completed-zscore", "rrf", "min-max", "convex"])
def test_every_fusion_finds_and_names_itself(engine: Engine, ingest: Ingest, method: str) -> None:
    ingest(DOCUMENTS)
    context = find(engine, "Who hears that a disk is full?", fusion=method)
    assert paths(context)[0] == "alerts.md"
    assert ending(context, "fuse").facts()["detail"]["method"] == method


def test_a_tier_of_weight_zero_is_off(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    context = find(engine, "full disk", weights=TierWeights(dense=0).model_dump())
    assert ending(context, "dense").reason == "off"
    assert all("dense" not in candidate.ranks for candidate in context.ranking)


def test_several_collections_are_asked_at_once(engine: Engine, ingest: Ingest) -> None:
    ingest(DOCUMENTS)
    second: Collection = ingest(
        {"disks.md": "# Disks\n\nA disk that is full stops the recorder.\n"}, name="more"
    )
    context = find(engine, "what happens when the disk is full?")
    assert {"alerts.md", "disks.md"} <= set(paths(context))
    only = retrieve(parts(engine), "full disk", collection=second.name)
    assert set(paths(only)) == {"disks.md"}
