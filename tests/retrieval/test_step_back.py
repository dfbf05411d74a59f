from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.retrieval.context import Context
from llmwiki.retrieval.service import retrieve
from tests.support.chat_server import Answer, ChatServer, completion
from tests.support.questions import ending, station
from tests.support.wiki import Wiki

BROAD = "How do I use the station?"
GENERAL = "How is the station operated?"
NARROW = "Which port does a wind probe need?"


def find(wiki: Wiki, question: str = BROAD) -> Context:
    return retrieve(wiki.app.retrieval, question)


def test_a_broad_question_is_embedded_in_its_general_form_and_judged_as_asked(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    context = find(station(engine, tmp_path, server))
    assert (context.embed_query, context.rerank_query) == (GENERAL, BROAD)
    assert ending(context.events, "step-back").facts()["detail"] == {
        "kind": "step-back",
        "original": BROAD,
        "generalized": GENERAL,
        "from_cache": False,
    }
    assert context.usage.chat_calls == 1


def test_a_narrow_question_spends_nothing(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    context = find(station(engine, tmp_path, server), NARROW)
    assert context.embed_query == NARROW
    assert ending(context.events, "step-back").reason == "narrow"
    assert server.requests == 0


def test_the_rewrite_is_kept_whatever_the_case_and_the_blanks(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path, server)
    find(wiki)
    context = find(wiki, "how do I  use THE station")
    assert context.embed_query == GENERAL
    assert ending(context.events, "step-back").facts()["detail"]["from_cache"] is True
    assert server.requests == 1


def test_a_new_state_of_the_corpus_is_asked_about_anew(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path, server)
    find(wiki)
    wiki.ingest()
    find(wiki)
    assert server.requests == 2


def test_a_rewrite_whose_time_is_over_is_asked_for_again(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path, server)
    find(wiki)
    wiki.change("UPDATE kept_answer SET expires_at = clock_timestamp() - interval '1 second'")
    find(wiki)
    assert server.requests == 2


def test_a_spent_budget_is_told_apart_from_the_gate(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    context = find(station(engine, tmp_path, server, budget={"chat_calls_per_day": 0}))
    event = ending(context.events, "step-back")
    assert (event.status, event.reason) == ("skipped", "quota")
    assert context.embed_query == BROAD
    assert context.anchors
    assert server.requests == 0


def test_a_kept_rewrite_serves_a_day_without_calls(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path, server, budget={"chat_calls_per_day": 1})
    find(wiki)
    assert find(wiki).embed_query == GENERAL


@pytest.mark.parametrize(
    "broken",
    [
        Answer(status=500, body={"error": {"message": "broken"}}),
        Answer(status=403, body={"error": {"message": "forbidden"}}),
        Answer(body="<html></html>"),
        Answer(reset=True),
        completion(""),
        completion("One?\nTwo?"),
        completion("station " * 50),
        completion('{"pages": []}'),
        completion("- station: how to use it"),
        completion("What is the meaning of life?"),
    ],
)
def test_a_model_that_fails_leaves_the_question_as_it_was(
    engine: Engine, tmp_path: Path, server: ChatServer, broken: Answer
) -> None:
    wiki = station(engine, tmp_path, server, retrieval={"provider_timeout": 0.4})
    server.answerer = lambda _request: broken
    context = find(wiki)
    assert context.embed_query == BROAD
    assert ending(context.events, "step-back").status == "error"
    assert context.ranking


def test_a_rewrite_keeps_nothing_that_cannot_be_stored_or_printed(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path, server)
    server.enqueue(completion("How is\x00 the \ud83dstation\x1b operated?\udce4"))
    context = find(wiki)
    assert context.embed_query == "How is the station operated?"
    assert find(wiki).embed_query == context.embed_query
    assert server.requests == 1


def test_a_reader_who_may_not_write_finds_chunks_and_spends_nothing(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    context = find(station(engine, tmp_path, server).read_only())
    event = ending(context.events, "step-back")
    assert (event.status, event.error) == ("error", "DatabaseError")
    assert "read-only" in (event.message or "")
    assert context.embed_query == BROAD
    assert context.ranking
    assert server.requests == 0


def test_a_model_that_hangs_is_given_up(engine: Engine, tmp_path: Path, server: ChatServer) -> None:
    wiki = station(engine, tmp_path, server, retrieval={"provider_timeout": 0.2})
    server.answerer = lambda _request: Answer(delay=60)
    context = find(wiki)
    assert ending(context.events, "step-back").status == "error"
    assert context.ranking
    assert server.requests == 1


def test_without_a_model_or_switched_off_it_says_so(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = station(engine, tmp_path / "one")
    assert ending(find(wiki).events, "step-back").reason == "no-model"
    off = station(engine, tmp_path / "two", server, retrieval={"step_back": False})
    assert ending(find(off).events, "step-back").reason == "off"


def test_the_overview_serves_a_broad_question_at_no_cost(engine: Engine, tmp_path: Path) -> None:
    wiki = station(engine, tmp_path)
    [anchor] = find(wiki).anchors
    assert "Colours" in anchor.contents
    assert find(wiki, NARROW).anchors == ()
