"""An answer that was cut off: whole pages are kept, the others go into smaller requests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import exit_codes
from llmwiki.config import CompileSettings, GeneratorSettings, Settings
from tests.support.chat_server import Answer, ChatServer, completion
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

FILES = {f"part{n:02}.md": f"# Part {n}\n\n{prose(f'part{n:02}')}\n" for n in range(16)}
POISON = "part05 number 3 "


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(write_pages) as running:
        yield running


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    """Sixteen drafts that a model is to write anew, eight in a request."""
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            pages_per_call=8,
            max_attempts=1,
        ),
        compile=CompileSettings(max_attempts=3),
    )
    made = Wiki(engine, tmp_path, settings)
    made.ingest(FILES)
    return made


class ShortAnswers:
    """Stops for length after so many pages, in the middle of the next one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: list[int] = []

    def __call__(self, request: dict[str, Any]) -> Answer:
        text = write_pages(request)
        pages = json.loads(text)["pages"]
        self.asked.append(len(pages))
        if len(pages) <= self.most:
            return completion(text)
        end = text.index('"topic": ', text.index(json.dumps(pages[self.most])))
        return completion(text[: end + 200], finish_reason="length")


def by_model(wiki: Wiki) -> int:
    return int(wiki.rows("SELECT count(*) FROM page WHERE generator_kind = 'model'")[0][0])


def test_whole_pages_are_kept_and_packs_are_halved_for_what_follows(
    wiki: Wiki, server: ChatServer
) -> None:
    server.answerer = answers = ShortAnswers(5)
    result = wiki.drain()

    assert answers.asked == [8, 4, 4, 3]
    assert by_model(wiki) == 16
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.DONE, 0)
    assert wiki.rows("SELECT max(attempts), count(not_before) FROM page") == [(0, 0)]
    assert wiki.lint().facts["errors"] == 0


def test_a_page_that_is_cut_off_alone_has_failed(wiki: Wiki, server: ChatServer) -> None:
    server.answerer = answers = ShortAnswers(0)
    result = wiki.drain(budget=5)

    assert answers.asked == [8, 4, 2, 1, 1]
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.FAILURES, 2)
    assert (
        wiki.rows("SELECT attempts, last_error FROM page WHERE attempts > 0")
        == [(1, "truncated: the answer ended before this page was whole")] * 2
    )
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(0,)]


def test_a_budget_that_ends_in_between_leaves_the_pages_in_the_queue(
    wiki: Wiki, server: ChatServer
) -> None:
    server.answerer = ShortAnswers(5)
    result = wiki.drain(budget=1)

    assert by_model(wiki) == 5
    assert (result.facts["stopped_reason"], result.facts["failed"]) == ("budget", 0)
    assert wiki.rows("SELECT count(*) FROM page WHERE stale AND lease_until IS NULL") == [(11,)]


def too_long(request: dict[str, Any]) -> Answer | str:
    if len(json.loads(write_pages(request))["pages"]) <= 3:
        return write_pages(request)
    return Answer(status=400, body={"error": {"message": "maximum context length exceeded"}})


def refuse_poison(request: dict[str, Any]) -> Answer | str:
    if POISON not in request["messages"][-1]["content"]:
        return write_pages(request)
    return Answer(status=400, body={"error": {"message": "filtered", "code": "content_filter"}})


def test_a_request_that_is_too_long_is_divided_and_nobody_is_blamed(
    wiki: Wiki, server: ChatServer
) -> None:
    server.answerer = too_long
    result = wiki.drain()

    assert by_model(wiki) == 16
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.DONE, 0)


def test_the_one_page_for_which_whole_requests_are_refused_is_found_and_the_others_written(
    wiki: Wiki, server: ChatServer
) -> None:
    server.answerer = refuse_poison
    result = wiki.drain(budget=10)

    assert by_model(wiki) == 15
    assert result.facts["failed"] == 1
    (row,) = wiki.rows("SELECT slug, attempts, generator_kind FROM page WHERE attempts > 0")
    assert row == ("part05", 1, "extractive")


def test_a_page_that_failed_before_takes_no_other_along(wiki: Wiki, server: ChatServer) -> None:
    server.answerer = refuse_poison
    wiki.drain(budget=10)
    edited = {
        name: text.replace("number 7 keeps", "number 7 holds")
        for name, text in FILES.items()
        if POISON not in text
    }
    wiki.ingest(FILES | edited)
    wiki.sweep()
    wiki.change("UPDATE page SET not_before = now() - interval '1 s' WHERE not_before > now()")
    before = server.requests
    wiki.drain()

    assert server.requests - before == 3
    assert by_model(wiki) == 15
    assert wiki.rows("SELECT count(*) FROM page WHERE stale") == [(1,)]
