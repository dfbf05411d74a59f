import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from tests.cli.conftest import Command
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages

SLUG = "guide/backup"


def invent(request: dict[str, Any]) -> str:
    answer = json.loads(write_pages(request))
    for page in answer["pages"]:
        if page["title"] == "Backups":
            for statement in page["sections"][0]["statements"]:
                statement["text"] = "The vault is at https://invented.example/4711."
    return json.dumps(answer)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(invent) as running:
        yield running


@pytest.fixture
def refused(command: Command, ingested: Path, server: ChatServer) -> Path:
    """A night in which the answer about backups was refused, and quarantined at once."""
    command.set(
        GENERATOR__PROVIDER="openai",
        GENERATOR__MODEL="test",
        GENERATOR__BASE_URL=server.url,
        GENERATOR__API_KEY="key",
        COMPILE__MAX_ATTEMPTS="1",
    )
    assert command("nightly").code == 1
    return ingested


@pytest.mark.usefixtures("refused")
def test_the_refused_draft_is_shown_with_the_reasons_and_what_to_do(command: Command) -> None:
    outcome = command("page", SLUG, "--refused")
    assert outcome.code == 0
    assert "REFUSED" in outcome.stdout
    assert "written by openai:test" in outcome.stdout
    assert "nothing-left" in outcome.stdout
    assert "- `unsupported-detail`, a number, name or address that no cited" in outcome.stdout
    assert f"`llmwiki quarantine retry {SLUG}`" in outcome.stdout
    assert "4711" not in command("page", SLUG).stdout
    [refusal] = command("page", SLUG, "--refused", "--json").document["refusals"]
    assert refusal["refusal"]["generator"] == "openai:test"


@pytest.mark.usefixtures("refused")
def test_a_page_of_which_nothing_was_refused_says_so(command: Command) -> None:
    assert "no refused draft" in command("page", "guide/alerts", "--refused").stdout


@pytest.mark.usefixtures("refused")
def test_the_quarantine_is_listed_and_emptied_by_a_retry(
    command: Command, server: ChatServer
) -> None:
    collection, slug, attempts, _, error = command("quarantine", "list").stdout.split("\t")
    assert (collection, slug, attempts) == ("handbook", SLUG, "1")
    assert error.startswith("nothing-left")
    server.answerer = write_pages
    assert command("quarantine", "retry", SLUG).stdout == f"{SLUG} is in the queue again\n"
    assert command("quarantine", "list").stdout == "the quarantine is empty\n"
    assert command("quarantine", "retry", "--all").stdout == "the quarantine is empty\n"
    assert command("nightly").code == 0
    assert "openai:test" in command("page", SLUG).stdout
    assert "up to date since" in command("page", SLUG, "--refused").stdout


@pytest.mark.usefixtures("refused")
def test_a_dropped_page_leaves_the_quarantine_with_its_text(command: Command) -> None:
    outcome = command("quarantine", "drop", SLUG)
    assert outcome.stdout == f"{SLUG} keeps its last text until its sources move\n"
    assert command("quarantine", "list", "--json").document["quarantined"] == []
    assert command("nightly").code == 0


@pytest.mark.usefixtures("refused")
def test_what_the_quarantine_cannot_do_is_told(command: Command) -> None:
    for arguments, message in (
        (["retry"], "name the pages"),
        (["retry", "--all", SLUG], "not both"),
        (["retry", "guide/alerts"], "not in quarantine: guide/alerts; there are guide/backup"),
        (["drop", "guide/alerts"], "not in quarantine: guide/alerts"),
    ):
        outcome = command("quarantine", *arguments)
        assert (outcome.code, outcome.stdout) == (2, "")
        assert message in outcome.stderr


@pytest.mark.usefixtures("refused")
def test_a_page_with_attempts_left_is_tried_again_by_itself(
    command: Command, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE page SET quarantined_at = NULL, quarantined_edges = NULL"))
    assert "the drain tries again after" in command("page", SLUG, "--refused").stdout


@pytest.mark.usefixtures("refused")
def test_the_budget_is_shown_with_its_calls(command: Command) -> None:
    lines = command("budget").stdout.splitlines()
    assert lines[0] == "chat\t20\t1\t19\t14\t0\t0"
    assert lines[1] == "chat/compile\t15\t1\t14\t\t0\t0"
    assert lines[3].startswith("the day is ")
    assert "compile" in lines[5]
    assert command("budget", "--calls", "0").stdout.count("\n") == 4
    document = command("budget", "--json").document
    assert document["time_zone"] == "UTC"
    assert [budget["name"] for budget in document["budgets"]] == ["chat", "chat/compile", "embed"]
    assert document["calls"][0]["http_status"] == 200
