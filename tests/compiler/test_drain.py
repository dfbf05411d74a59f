import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import exit_codes
from llmwiki.config import BudgetSettings, CompileSettings, GeneratorSettings, Settings
from llmwiki.errors import ConfigurationError
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
    assert (result.exit_code, result.facts["stopped_reason"]) == (
        exit_codes.FAILURES,
        "outage",
    )
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


PLAIN_REFUSAL = Answer(status=400, body={"error": {"message": "Invalid request"}})
FIVE_FILES = {name: FILES[name] for name in sorted(FILES)[:5]}


def titles_asked(request: dict[str, Any]) -> set[str]:
    prompt = request["messages"][-1]["content"]
    return {name for name in ("Part 0", "Part 1", "Part 2", "Part 3", "Part 4") if name in prompt}


@pytest.mark.parametrize(
    ("status", "pages_per_call", "poison"),
    [
        *[(400, size, poison) for size in (1, 2, 20) for poison in (0, 2, 4)],
        *[(status, 20, 1) for status in (403, 404, 422, 451)],
    ],
)
def test_a_page_that_is_refused_costs_the_others_little_and_is_quarantined(
    engine: Engine,
    tmp_path: Path,
    server: ChatServer,
    status: int,
    pages_per_call: int,
    poison: int,
) -> None:
    calls = {1: 5, 2: 6, 20: 7}[pages_per_call]
    alone = 0

    def refuse(request: dict[str, Any]) -> Answer | str:
        nonlocal alone
        titles = titles_asked(request)
        alone += titles == {f"Part {poison}"}
        is_refused = f"Part {poison}" in titles
        return Answer(status=status, body=b"{}") if is_refused else write_pages(request)

    server.answerer = refuse
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=pages_per_call)
    wiki.ingest(FIVE_FILES)
    for night in range(3):
        wiki.drain()
        assert generators(wiki) == {"extractive": 1, "model": 4}
        if night == 0:
            assert server.requests <= calls
            assert wiki.rows("SELECT attempts FROM page WHERE attempts > 0") == [(1,)]
        wiki.change("UPDATE page SET not_before = NULL")
    assert alone == 2
    assert server.requests <= calls + 1
    assert wiki.rows("SELECT attempts FROM page WHERE quarantined_at IS NOT NULL") == [(2,)]


@pytest.mark.parametrize("pages_per_call", [1, 2, 20])
def test_a_service_that_refuses_every_request_stops_the_drain_and_no_page_is_blamed(
    engine: Engine, tmp_path: Path, server: ChatServer, pages_per_call: int
) -> None:
    server.answerer = lambda _request: PLAIN_REFUSAL
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=pages_per_call)
    wiki.ingest(FIVE_FILES)
    with pytest.raises(ConfigurationError, match="none was answered: request-refused"):
        wiki.drain()
    assert server.requests == 3
    assert wiki.rows("SELECT exit_code FROM run ORDER BY id DESC LIMIT 1") == [(exit_codes.ERROR,)]
    assert wiki.rows("SELECT max(attempts), count(lease_until) FROM page") == [(0, 0)]


def test_two_pages_that_are_refused_alone_are_the_configurations_fault(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    server.answerer = lambda _request: PLAIN_REFUSAL
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=1)
    wiki.ingest(dict(list(FILES.items())[:2]))
    with pytest.raises(ConfigurationError, match="none was answered"):
        wiki.drain()
    assert server.requests == 2
    assert wiki.rows("SELECT max(attempts), count(lease_until) FROM page") == [(0, 0)]


def test_pages_that_were_blamed_once_are_quarantined_although_no_other_is_left_to_ask_for(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    def refuse(request: dict[str, Any]) -> Answer | str:
        is_refused = titles_asked(request) & {"Part 0", "Part 1"}
        return PLAIN_REFUSAL if is_refused else write_pages(request)

    server.answerer = refuse
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=1)
    wiki.ingest(FIVE_FILES)
    for _ in range(2):
        wiki.drain()
        assert generators(wiki) == {"extractive": 2, "model": 3}
        wiki.change("UPDATE page SET not_before = NULL")
    assert server.requests == 5 + 2
    assert wiki.rows("SELECT count(*) FROM page WHERE quarantined_at IS NOT NULL") == [(2,)]


def test_a_small_budget_is_not_spent_on_the_same_refused_page_every_night(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    server.queue.append(PLAIN_REFUSAL)
    wiki = model_wiki(engine, tmp_path, server, pages_per_call=1)
    wiki.ingest(FIVE_FILES)
    assert wiki.drain(budget=1).facts["stopped_reason"] == "budget"
    assert wiki.rows("SELECT attempts FROM page WHERE attempts > 0") == [(1,)]
    wiki.drain(budget=1)
    assert generators(wiki) == {"extractive": 4, "model": 1}
