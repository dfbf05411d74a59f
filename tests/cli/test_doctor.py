from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from llmwiki.cli.checks import judge_night, shown_url
from llmwiki.domain import RunId
from llmwiki.store.run_status import RunStatus
from tests.cli.conftest import Command, Outcome
from tests.support.tiny_cross_encoder import write_cross_encoder

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def by_name(outcome: Outcome) -> dict[str, Any]:
    return {check["name"]: check for check in outcome.document["checks"]}


def night(age: timedelta, exit_code: int | None = 0, *, dead: bool = False) -> RunStatus:
    return RunStatus(
        id=RunId(7),
        job="nightly",
        started_at=NOW - age,
        finished_at=None if exit_code is None else NOW - age,
        duration=timedelta(0),
        exit_code=exit_code,
        dead=dead,
    )


@pytest.mark.usefixtures("compiled")
def test_all_is_well_after_a_night(command: Command) -> None:
    outcome = command("doctor", "--json")
    assert outcome.code == 0
    assert outcome.document["ok"] is True
    checks = by_name(outcome)
    assert not [check for check in checks.values() if check["state"] == "fail"]
    assert "pgvector" in checks["server"]["detail"]
    assert checks["nightly"]["state"] == "ok"
    assert checks["collection"]["state"] == "ok"
    assert "chat 0 of 20" in checks["budget"]["detail"]


def test_without_a_database_the_rest_is_checked(bare_command: Command) -> None:
    bare_command.set(DATABASE_URL="postgresql://reader:geheim@127.0.0.1:1/wiki")
    outcome = bare_command("doctor", "--json")
    assert outcome.code == 2
    checks = by_name(outcome)
    assert checks["database"]["state"] == "fail"
    assert "geheim" not in outcome.stdout + outcome.stderr
    assert {"embedder", "generator", "budget", "schedule"} <= set(checks)


def test_without_a_url_it_says_what_to_set(bare_command: Command) -> None:
    checks = by_name(bare_command("doctor", "--json"))
    assert "LLMWIKI_DATABASE_URL" in checks["database"]["detail"]


def test_a_wrong_setting_is_the_only_failure(bare_command: Command) -> None:
    bare_command.set(BUDGET__TIME_ZONE="Mars/Olympus")
    outcome = bare_command("doctor", "--json")
    assert outcome.code == 2
    assert [check["name"] for check in outcome.document["checks"]] == ["release", "configuration"]


@pytest.mark.usefixtures("ingested")
def test_a_collection_of_another_embedder_fails_with_the_remedy(
    command: Command,
) -> None:
    command.set(EMBEDDER__PROVIDER="minilm")
    outcome = command("doctor")
    assert outcome.code == 2
    assert "fail  collection: system/handbook is embedded with hashing" in outcome.stdout
    assert "llmwiki reembed --collection handbook" in outcome.stdout


@pytest.mark.usefixtures("ingested")
def test_a_service_is_not_called(command: Command) -> None:
    command.set(
        EMBEDDER__PROVIDER="openai",
        EMBEDDER__MODEL="unheard-of",
        EMBEDDER__BASE_URL="http://127.0.0.1:1/v1",
        GENERATOR__PROVIDER="openai",
        GENERATOR__MODEL="some-model",
        GENERATOR__BASE_URL="http://127.0.0.1:1/v1",
    )
    checks = by_name(command("doctor", "--json"))
    assert checks["embedder"]["state"] == "ok"
    assert checks["generator"]["state"] == "ok"
    assert checks["budget"]["detail"].startswith("chat 0 of 20")


def test_the_fused_order_is_named_as_the_reranker_that_costs_nothing(
    bare_command: Command,
) -> None:
    reranker = by_name(bare_command("doctor", "--json"))["reranker"]
    assert reranker["state"] == "ok"
    assert "costs no call" in reranker["detail"]


def test_a_cross_encoder_is_opened(bare_command: Command, tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "tiny-reranker")
    bare_command.set(RERANK__PROVIDER="cross-encoder", RERANK__PATH=str(folder))
    reranker = by_name(bare_command("doctor", "--json"))["reranker"]
    assert reranker["state"] == "ok"
    assert "tiny-reranker" in reranker["detail"]


def test_a_reranking_service_is_not_called(bare_command: Command) -> None:
    bare_command.set(
        RERANK__PROVIDER="voyage",
        RERANK__MODEL="rerank-test",
        RERANK__API_KEY="geheimnis",
        RERANK__BASE_URL="http://127.0.0.1:1/v1",
    )
    outcome = bare_command("doctor", "--json")
    reranker = by_name(outcome)["reranker"]
    assert reranker["state"] == "ok"
    assert reranker["detail"] == "voyage:rerank-test at http://127.0.0.1:1/v1 (not called)"
    assert "geheimnis" not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("provider", "variables", "problem"),
    [
        ("cross-encoder", {}, "rerank.path must be set"),
        ("cross-encoder", {"RERANK__PATH": "nowhere"}, "nowhere/tokenizer.json: no such file"),
        ("cohere", {"RERANK__API_KEY": "key"}, "rerank.model must name the model"),
        ("jina", {"RERANK__MODEL": "m"}, "no API key for jina"),
    ],
)
def test_a_reranker_that_cannot_be_opened_fails_with_what_to_do(
    bare_command: Command, provider: str, variables: dict[str, str], problem: str
) -> None:
    bare_command.set(RERANK__PROVIDER=provider, **variables)
    reranker = by_name(bare_command("doctor", "--json"))["reranker"]
    assert reranker["state"] == "fail"
    assert problem in reranker["detail"]


def test_a_share_above_the_cap_and_a_risky_hour_are_warned_of(command: Command) -> None:
    command.set(
        BUDGET__CHAT_CALLS_PER_DAY="5",
        SCHEDULE__TIME_ZONE="Europe/Berlin",
    )
    outcome = command("doctor", "--json")
    assert outcome.code == 0
    warned = {check["name"] for check in outcome.document["checks"] if check["state"] == "warn"}
    assert {"budget", "schedule", "collections", "nightly"} <= warned


@pytest.mark.parametrize(
    ("last", "state", "words"),
    [
        (None, "warn", "never ran"),
        (night(timedelta(hours=6)), "ok", "exit code 0"),
        (night(timedelta(hours=27)), "warn", "1 d 3 h ago"),
        (night(timedelta(hours=6), 1), "warn", "exit code 1"),
        (night(timedelta(minutes=6), None), "ok", "is running"),
        (night(timedelta(hours=6), None, dead=True), "warn", "without an end"),
    ],
)
def test_a_night_is_judged_by_its_age_and_its_end(
    last: RunStatus | None, state: str, words: str
) -> None:
    check = judge_night(last, NOW)
    assert check.state == state
    assert words in check.detail
    assert bool(check.remedy) == (state != "ok")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("embedded:/srv/wiki", "embedded:/srv/wiki"),
        ("postgresql://me:geheim@host/wiki", "postgresql+psycopg://me:***@host/wiki"),
        ("postgresql://host/wiki?password=geheim", "postgresql+psycopg://host/wiki"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown
