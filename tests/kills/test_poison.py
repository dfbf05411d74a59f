"""A page that always fails costs a bounded number of calls, and comes back when it should."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine
from sqlalchemy.exc import DataError

from jobs import exit_codes
from llmwiki.compiler.drafts.extractive import ExtractiveGenerator
from llmwiki.compiler.drain.finishing import Outcome, PageFinisher
from llmwiki.config import CompileSettings, GeneratorSettings, Settings
from llmwiki.domain import Generation
from llmwiki.errors import TransientProviderError
from llmwiki.store.queue import QueuedPage
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

FILES = {f"part{n}.md": f"# Part {n}\n\n{prose(f'part{n}')}\n" for n in range(8)}
POISON = "part3"
NIGHTS = 6


class Model:
    """Invents a number on the poison page, and notes which requests asked for it."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def __call__(self, request: dict[str, Any]) -> str:
        answer = json.loads(write_pages(request))
        poisoned = [page for page in answer["pages"] if f"{POISON} number" in json.dumps(page)]
        self.asked.append(bool(poisoned))
        for page in poisoned:
            for section in page["sections"]:
                for statement in section["statements"]:
                    statement["text"] = "The answer is 4711 at https://invented.example/x."
        return json.dumps(answer)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[ChatServer]:
    with ChatServer(model) as running:
        yield running


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    """Eight pages that a model is to write, four in a request, three attempts each."""
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            pages_per_call=4,
            max_attempts=1,
        ),
        compile=CompileSettings(max_attempts=3),
    )
    made = Wiki(engine, tmp_path, settings)
    made.ingest(FILES)
    return made


def let_a_day_pass(wiki: Wiki) -> None:
    wiki.change("UPDATE page SET not_before = not_before - interval '1 day'")
    wiki.change(
        "UPDATE budget_day SET day = (SELECT min(day) - 1 FROM budget_day) WHERE day = current_date"
    )


def edit(name: str, number: int, night: int) -> dict[str, str]:
    old = f"number {number} keeps"
    assert old in FILES[name]
    return {name: FILES[name].replace(old, f"number {number} in {night} keeps")}


def test_a_page_that_always_fails_is_asked_as_often_as_the_attempts_and_no_more(
    wiki: Wiki, model: Model
) -> None:
    codes = []
    for _ in range(NIGHTS):
        codes.append(wiki.night().exit_code)
        let_a_day_pass(wiki)

    assert sum(model.asked) == 3
    assert codes == [exit_codes.FAILURES] * 3 + [exit_codes.DONE] * 3
    (row,) = wiki.rows("SELECT slug, generator_kind FROM page WHERE quarantined_at IS NOT NULL")
    assert row == (POISON, "extractive")


def test_no_night_spends_a_call_on_it_before_its_time(wiki: Wiki, model: Model) -> None:
    wiki.night()
    before = len(model.asked)
    wiki.night()
    assert len(model.asked) == before


def test_pages_that_waited_longer_go_before_a_page_that_failed(wiki: Wiki, model: Model) -> None:
    wiki.night()
    wiki.ingest(FILES | edit("part6.md", 4, 1))
    wiki.sweep()
    wiki.change("UPDATE page SET not_before = now() WHERE not_before IS NOT NULL")
    wiki.change("UPDATE page SET stale_since = now() - interval '2 h' WHERE slug = 'part6'")
    wiki.drain(budget=1)
    assert wiki.stale().keys() == {POISON}
    assert model.asked[-1] is False


def test_a_quarantined_page_comes_back_when_its_sources_move_and_only_then(
    wiki: Wiki, model: Model
) -> None:
    for _ in range(4):
        wiki.night()
        let_a_day_pass(wiki)
    wiki.ingest(FILES | edit("part6.md", 4, 1))
    wiki.night()
    assert sum(model.asked) == 3
    let_a_day_pass(wiki)

    wiki.ingest(FILES | edit("part3.md", 4, 1))
    for _ in range(NIGHTS):
        wiki.night()
        let_a_day_pass(wiki)
    assert sum(model.asked) == 6
    assert wiki.rows("SELECT slug FROM page WHERE quarantined_at IS NOT NULL") == [(POISON,)]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RecursionError("too deep"), "RecursionError('too deep')"),
        (DataError("SELECT of a whole page", {}, ValueError("no such text")), "no such text"),
    ],
)
def test_a_page_on_which_the_program_itself_breaks_is_a_failure_of_this_page_only(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    finish = PageFinisher.finish

    def broken(self: PageFinisher, page: QueuedPage, *rest: Any) -> Outcome:  # noqa: ANN401
        if page.topic.key == POISON and not self.upgrade_follows:
            raise error
        return finish(self, page, *rest)

    monkeypatch.setattr(PageFinisher, "finish", broken)
    result = wiki.drain()

    assert (result.exit_code, result.facts["failed"]) == (exit_codes.FAILURES, 1)
    assert wiki.rows("SELECT slug, last_error FROM page WHERE attempts > 0") == [
        (POISON, f"internal error: {told}")
    ]
    assert wiki.rows("SELECT count(*) FROM page WHERE generator_kind = 'model'") == [(7,)]


def test_an_embedder_that_is_down_stops_the_drain_after_one_request(
    wiki: Wiki, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki.drain(budget=0)

    def down(*_arguments: object) -> Outcome:
        raise TransientProviderError("the embedder is down")

    monkeypatch.setattr(PageFinisher, "finish", down)
    result = wiki.drain()

    assert server.requests == 1
    assert result.facts["stopped_reason"] == "outage"
    assert wiki.rows("SELECT count(*) FROM page WHERE attempts > 0") == [(2,)]
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(0,)]


def test_a_draft_that_fails_does_not_keep_the_page_from_the_model(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, model: Model
) -> None:
    monkeypatch.setattr(ExtractiveGenerator, "generate", lambda *_: Generation(drafts={}))
    for _ in range(NIGHTS):
        wiki.night()
        let_a_day_pass(wiki)

    assert sum(model.asked) == 3
    rows = wiki.rows("SELECT generator_kind, count(*) FROM page WHERE kind = 'page' GROUP BY 1")
    assert dict(rows) == {"model": 7, None: 1}
