"""A night that was killed is seen as dead, and the next one goes on when its lease has run out."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from jobs import exit_codes
from llmwiki.config import GeneratorSettings, Settings
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

FILES = {f"part{n}.md": f"# Part {n}\n\n{prose(f'part{n}')}\n" for n in range(3)}
PATIENCE = 60


class Answers:
    """Lets the first request wait for ever, which is when the night is killed."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, request: dict[str, Any]) -> str:
        self.asked.set()
        assert self.go_on.wait(PATIENCE)
        return write_pages(request)


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def server(answers: Answers) -> Iterator[ChatServer]:
    with ChatServer(answers) as running:
        yield running


@pytest.fixture
def environment(database_url: str, server: ChatServer, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "LLMWIKI_DATABASE_URL": database_url,
        "LLMWIKI_EMBEDDER__PROVIDER": "hashing",
        "LLMWIKI_GENERATOR__PROVIDER": "openai",
        "LLMWIKI_GENERATOR__MODEL": "test",
        "LLMWIKI_GENERATOR__BASE_URL": server.url,
        "LLMWIKI_GENERATOR__API_KEY": "key",
        "LLMWIKI_LOG_LEVEL": "warning",
    }


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai", model="test", base_url=server.url, api_key=SecretStr("key")
        ),
    )
    made = Wiki(engine, tmp_path / "docs", settings)
    made.ingest(FILES)
    return made


def start(module: str, *arguments: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(module: str, *arguments: str, environment: dict[str, str]) -> tuple[int, str, str]:
    with start(module, *arguments, environment=environment) as process:
        output, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, output, errors


def test_a_night_that_was_killed_is_shown_as_dead_and_the_next_one_goes_on(
    wiki: Wiki, environment: dict[str, str], answers: Answers, server: ChatServer
) -> None:
    with start("jobs.nightly", environment=environment) as first:
        assert answers.asked.wait(PATIENCE)
        second = run("jobs.nightly", environment=environment)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=PATIENCE)
    answers.go_on.set()

    assert second[0] == exit_codes.LOCKED
    assert "run 1 of nightly is still alive" in second[2]
    assert run("jobs.nightly", environment=environment)[0] == exit_codes.LOCKED

    past = "now() - interval '1 h'"
    wiki.change(f"UPDATE job_lease SET expires_at = {past}")  # noqa: S608 - a constant
    wiki.change(f"UPDATE run SET heartbeat_at = {past}")  # noqa: S608 - a constant
    wiki.change(f"UPDATE page SET lease_until = {past} WHERE lease_until > now()")  # noqa: S608
    code, output, _ = run("llmwiki.cli.main", "status", environment=environment)
    assert code == exit_codes.DONE
    assert "dead: no end and no heartbeat" in output

    code, output, errors = run("jobs.nightly", environment=environment)
    assert (code, errors) == (exit_codes.DONE, "")
    assert "0 failed, 0 remain stale; 1 chat calls; stopped: done" in output
    assert server.requests == 2
    assert wiki.rows("SELECT settled_at IS NULL, outcome FROM call ORDER BY id") == [
        (True, None),
        (False, "answered"),
    ]
    assert wiki.rows("SELECT used FROM budget_day WHERE budget = 'chat'") == [(2,)]
