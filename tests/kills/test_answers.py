"""What the drain does with each answer of a provider, as docs/provider-answers.md says."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, assert_never

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from llmwiki.bootstrap import App
from llmwiki.config import BudgetSettings, GeneratorSettings, Settings
from llmwiki.errors import ConfigurationError
from llmwiki.providers.classification import REFUSED
from llmwiki.store.engine import Database
from tests.providers.answer_case import Case
from tests.providers.answers import CASES, effect_of
from tests.providers.conftest import FakeClock
from tests.support.chat_server import Answer, ChatServer
from tests.support.wiki import HASHING, Wiki, prose

FILES = {f"part{n}.md": f"# Part {n}\n\n{prose(f'part{n}')}\n" for n in range(8)}
ATTEMPTS = 4
IN_FULL = 300
FAILED_REQUESTS = 2
REFUSALS_IN_DOUBT = 3
"""Both packs, and half of the first."""
REFUSED_PACKS = 4
"""Of four pages, two, one, and one: then two single pages in a row were to blame."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    """Eight drafts that a model is to write anew; its pauses take no time."""
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            pages_per_call=4,
            max_attempts=ATTEMPTS,
            request_timeout=5,
        ),
        budget=BudgetSettings(chat_calls_per_day=1000, chat_calls_per_night=1000),
    )
    made = Wiki(engine, tmp_path, settings)
    made.ingest(FILES)
    made.drain(budget=0)
    made.app = App(settings=settings, database=Database(engine=engine), clock=FakeClock())
    return made


def forget(wiki: Wiki) -> None:
    """Put the queue and the ledger back to the evening before."""
    wiki.change("DELETE FROM call")
    wiki.change("UPDATE page SET attempts = 0, not_before = NULL, quarantined_at = NULL")


def chosen_cases(kills: int) -> list[Case]:
    """Return all cases where the suite is run in full, and otherwise one for each reason."""
    one_each = {case.reason: case for case in reversed(CASES)}
    return CASES if kills >= IN_FULL else list(one_each.values())


def test_a_night_on_which_every_request_is_answered_like_this(
    wiki: Wiki, server: ChatServer, kills: int
) -> None:
    pages = wiki.rows("SELECT id, body, revision, stale FROM page ORDER BY id")
    for case in chosen_cases(kills):
        forget(wiki)
        server.counts.clear()
        server.answerer = partial(answer_always, case.answer)
        stopped, code = drain(wiki)

        effect = effect_of(case)
        assert (case.name, stopped, code) == (case.name, effect.stopped, effect.exit_code)
        assert (case.name, server.requests) == (case.name, expected_requests(case))
        calls = wiki.rows("SELECT outcome, count(*) FROM call GROUP BY 1")
        assert (case.name, calls) == (case.name, [(case.reason, server.requests)])
        assert wiki.rows("SELECT id, body, revision, stale FROM page ORDER BY id") == pages
        assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(0,)]
        is_blamed = wiki.rows("SELECT max(attempts) > 0 FROM page") == [(True,)]
        assert (case.name, is_blamed) == (case.name, effect.exit_code == 1)


def drain(wiki: Wiki) -> tuple[str | None, int]:
    """Drain, and return why it stopped and its exit code; a broken off one has no reason."""
    try:
        result = wiki.drain()
    except ConfigurationError:
        [(code,)] = wiki.rows("SELECT exit_code FROM run ORDER BY id DESC LIMIT 1")
        return None, code
    return result.facts["stopped_reason"], result.exit_code


def answer_always(answer: Answer, _request: dict[str, Any]) -> Answer:
    return answer


def expected_requests(case: Case) -> int:
    match case.kind:
        case "stop-configuration" if case.reason == REFUSED:
            return REFUSALS_IN_DOUBT
        case "stop-quota" | "stop-configuration":
            return 1
        case "wait" if case.seconds is None:
            return 3
        case "wait" | "retry":
            return FAILED_REQUESTS * ATTEMPTS
        case "invalid":
            return REFUSED_PACKS
        case _:
            assert_never(case.kind)
