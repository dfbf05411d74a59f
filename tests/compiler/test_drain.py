import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import exit_codes
from llmwiki.config import BudgetSettings, CompileSettings, GeneratorSettings, Settings
from tests.support.chat_server import Answer, ChatServer, completion
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

FILES = {
    f"part{number}.md": f"# Part {number}\n\n{prose(f'part{number}')}\n" for number in range(8)
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(write_pages) as running:
        yield running


def model_wiki(
    engine: Engine, folder: Path, server: ChatServer, *, pages_per_call: int = 3, **budget: int
) -> Wiki:
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            pages_per_call=pages_per_call,
            max_attempts=1,
        ),
        budget=BudgetSettings(**budget),
        compile=CompileSettings(max_attempts=2),
    )
    return Wiki(engine, folder, settings)


def generators(wiki: Wiki) -> dict[str, int]:
    return dict(
        wiki.rows("SELECT generator_kind, count(*) FROM page WHERE kind = 'page' GROUP BY 1")
    )


def test_a_model_writes_several_pages_in_one_call(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    result = wiki.drain()
    assert generators(wiki) == {"model": 8}
    assert server.requests == result.facts["chat_calls"] == 3
    assert wiki.rows("SELECT outcome, count(*) FROM call GROUP BY 1") == [("answered", 3)]
    assert wiki.lint().facts["errors"] == 0


def test_the_budget_stops_the_drain_and_every_page_has_at_least_a_draft(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    result = wiki.drain(budget=1)
    assert result.exit_code == exit_codes.DONE
    assert result.facts["stopped_reason"] == "budget"
    assert result.facts["budgeted"] == 3
    assert server.requests == 1
    assert generators(wiki) == {"extractive": 5, "model": 3}
    assert result.facts["remaining_stale"] == 5
    wiki.sweep()
    assert set(map(tuple, wiki.stale().values())) == {("recipe",)}


def test_the_next_night_goes_on_with_the_oldest_page_and_repeats_none(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    for _ in range(3):
        wiki.drain(budget=1)
    assert generators(wiki) == {"model": 8}
    assert server.requests == 3
    wiki.drain(budget=1)
    assert server.requests == 3


def test_a_budget_of_zero_makes_drafts_and_exits_0(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    result = wiki.drain(budget=0)
    assert (result.exit_code, result.facts["stopped_reason"]) == (exit_codes.DONE, "budget")
    assert generators(wiki) == {"extractive": 8}
    assert server.requests == 0


def test_the_days_cap_holds_over_several_drains(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server, chat_calls_per_night=2, pages_per_call=1)
    wiki.ingest(FILES)
    assert wiki.drain().facts["stopped_reason"] == "budget"
    assert wiki.drain().facts["stopped_reason"] == "budget"
    assert server.requests == 2


def test_a_quota_stop_keeps_the_pages_queued_and_exits_3(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    error = {"code": "insufficient_quota", "message": "no credit"}
    server.queue.append(Answer(status=429, body={"error": error}))
    result = wiki.drain()
    assert (result.exit_code, result.facts["stopped_reason"]) == (
        exit_codes.STOPPED_EARLY,
        "quota",
    )
    assert server.requests == 1
    assert wiki.rows("SELECT max(attempts), count(lease_until) FROM page") == [(0, 0)]
    assert wiki.drain().facts["compiled"] == 8


def test_a_service_that_is_down_is_not_asked_for_every_page(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    server.answerer = lambda _request: Answer(status=500, body={"error": {"message": "down"}})
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=1)
    wiki.ingest(FILES)
    result = wiki.drain()
    assert (result.exit_code, result.facts["stopped_reason"]) == (exit_codes.FAILURES, "outage")
    assert server.requests == 2
    assert generators(wiki) == {"extractive": 8}


def test_one_page_that_is_refused_keeps_its_text_and_the_rest_of_the_pack_is_written(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    def invent(request: dict[str, object]) -> str:
        answer = json.loads(write_pages(request))
        for section in answer["pages"][1]["sections"]:
            for statement in section["statements"]:
                statement["text"] = "The answer is 4711 at https://invented.example/x."
        return json.dumps(answer)

    server.answerer = invent
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=8)
    wiki.ingest(FILES)
    result = wiki.drain()
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.FAILURES, 1)
    assert generators(wiki) == {"extractive": 1, "model": 7}
    (row,) = wiki.rows("SELECT body, stale, attempts, last_error FROM page WHERE attempts > 0")
    assert "4711" not in row[0]
    assert row[1:3] == (True, 1)


def test_a_draft_never_replaces_a_page_that_a_model_wrote_unless_forced(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    modelled = model_wiki(engine, tmp_path, server)
    modelled.ingest(FILES)
    modelled.drain()
    offline = Wiki(engine, tmp_path)
    offline.ingest(FILES | {"part0.md": FILES["part0.md"].replace("number 3 keeps", "number 3 x")})
    night = offline.night()
    assert night.facts["sweep"]["reasons"] == {"content": 1}
    assert night.facts["drain"]["compiled"] == 0
    assert generators(offline) == {"model": 8}


def test_a_chat_answer_that_is_no_json_fails_its_pages_only(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    server.queue.append(completion("I am sorry, I cannot do that."))
    result = wiki.drain()
    assert result.facts["failed"] == 3
    assert generators(wiki) == {"extractive": 3, "model": 5}
