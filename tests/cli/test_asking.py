from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.test_reading import NEW, change, slug_of


@pytest.mark.usefixtures("compiled")
def test_search_names_document_headings_tiers_and_page(command: Command) -> None:
    outcome = command("search", "which operator hears of a full disk?", "--limit", "1")
    assert outcome.code == 0
    assert outcome.stdout.startswith("[1] guide/alerts.md > Alerts\n")
    assert "found by dense, lexical" in outcome.stdout
    assert f"page {slug_of(command, 'alerts')}" in outcome.stdout
    assert outcome.stderr == ""


def test_search_marks_a_stale_page(command: Command, compiled: Path) -> None:
    change(compiled)
    command("ingest", str(compiled), "--collection", "handbook")
    command("sweep")
    shown = command("search", "how long is a backup kept?", "--limit", "1").stdout
    assert "(stale)" in shown
    assert NEW in shown


def test_nothing_of_a_document_drives_the_terminal(command: Command, tmp_path: Path) -> None:
    escape = "\\e[31m\\a"
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "a\x1b[31m.md").write_text(
        f'---\ntitle: "Anvil {escape}"\nauthority_tier: "official{escape}"\n'
        f'version: "1{escape}"\nevidence_family: "tools{escape}"\n---\n'
        "# Anvil \x1b[31m\n\nWhat an anvil is: \x1b]0;title\x07a block of iron.\n"
    )
    command("ingest", str(folder), "--collection", "hostile")
    command("nightly")
    for name in ("search", "ask"):
        for question in ("What is an anvil?", "anvil tools iron"):
            outcome = command(name, question, "--trace", "--wiki", "on")
            assert "iron" in outcome.stdout
            assert not {"\x1b", "\x07"} & {*outcome.stdout, *outcome.stderr}


@pytest.mark.usefixtures("ingested")
def test_search_as_json_is_one_object(command: Command) -> None:
    document = command("search", "restore_archive", "--json").document
    first = document["chunks"][0]
    assert first["document"] == "guide/backup.md"
    assert "identifiers" in first["found_by"]
    assert first["page_compiled"] is False
    assert document["route"] == "identifier"
    assert "events" not in document


@pytest.mark.usefixtures("ingested")
def test_a_trace_tells_every_step_on_standard_error(command: Command) -> None:
    outcome = command("search", "how long is a backup kept?", "--trace")
    steps = [line.split()[0] for line in outcome.stderr.splitlines()]
    assert {"route", "step-back", "embed", "dense", "lexical", "fuse", "context"} <= set(steps)
    assert "step-back    skipped" in outcome.stderr
    document = command("search", "how long is a backup kept?", "--trace", "--json").document
    assert [e["step"] for e in document["events"] if e["status"] != "active"] == steps


@pytest.mark.usefixtures("ingested")
def test_an_empty_question_is_wrong_usage(command: Command) -> None:
    for name in ("search", "ask"):
        outcome = command(name, "  ")
        assert outcome.code == 2
        assert outcome.stderr.startswith("llmwiki: the question is empty")
        assert outcome.stdout == ""


@pytest.mark.usefixtures("ingested")
def test_an_owner_without_documents_is_named(command: Command) -> None:
    outcome = command("ask", "how long is a backup kept?", "--owner", "nobody")
    assert outcome.code == 2
    assert "no collection of owner nobody" in outcome.stderr
    assert "handbook" not in outcome.stderr


@pytest.mark.usefixtures("ingested")
def test_an_answer_without_a_model_says_so_and_shows_the_chunks(command: Command) -> None:
    outcome = command("ask", "how long is a backup kept?")
    assert outcome.code == 0
    assert outcome.stdout.startswith("No model was used: no model is configured.")
    assert "[1] guide/backup.md > Backups" in outcome.stdout
    assert "ninety days" in outcome.stdout


@pytest.mark.usefixtures("ingested")
def test_a_spent_budget_is_named_with_the_time_it_returns(command: Command) -> None:
    command.set(
        GENERATOR__PROVIDER="openai",
        GENERATOR__MODEL="test",
        GENERATOR__BASE_URL="http://127.0.0.1:9/v1",
        BUDGET__CHAT_CALLS_PER_DAY="0",
    )
    outcome = command("ask", "how long is a backup kept?")
    assert outcome.code == 0
    assert "budget chat: 0 of 0 calls are spent until" in outcome.stdout
    assert "Calls return at" not in outcome.stdout
    document = command("ask", "how long is a backup kept?", "--json", "--trace").document
    assert (document["method"], document["reason"]) == ("chunks", "quota")
    assert document["resets_at"]


@pytest.mark.usefixtures("compiled")
def test_promotion_opens_the_gate_and_status_tells(command: Command) -> None:
    status = command("status").stdout
    assert "wiki gate closed: not promoted" in status
    outcome = command("promote")
    assert outcome.code == 0
    assert "gate open: the last lint" in outcome.stdout
    assert "wiki gate open" in command("status").stdout
    shown = command("search", "how long is a backup kept?").stdout
    assert shown.startswith(f"page {slug_of(command, 'backup')}: Backups")
    revoked = command("promote", "--revoke", "--json").document
    assert revoked["gate"]["reason"] == "not-promoted"
    assert command("status", "--json").document["collections"][0]["gate"]["open"] is False


@pytest.mark.usefixtures("ingested")
def test_a_promotion_before_any_lint_says_what_is_missing(command: Command) -> None:
    assert "gate closed: no lint pass has seen it yet" in command("promote").stdout


@pytest.mark.usefixtures("ingested")
def test_a_closed_standard_error_is_no_place_for_settings(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.set(LOG_LEVEL="debug")
    monkeypatch.setattr("sys.stderr", None)
    outcome = command("search", "how long is a backup kept?")
    assert outcome.code == 0
    assert outcome.stdout.startswith("[1] guide/backup.md")


@pytest.mark.usefixtures("ingested")
def test_weights_that_leave_nothing_to_search_are_refused(command: Command) -> None:
    command.set(RETRIEVAL__WEIGHTS__DENSE="0", RETRIEVAL__WEIGHTS__LEXICAL="0")
    assert command("search", "backup").code == 0
    command.set(RETRIEVAL__WEIGHTS__IDENTIFIERS="0")
    outcome = command("search", "backup")
    assert outcome.code == 2
    assert "every weight is 0" in outcome.stderr


@pytest.mark.usefixtures("compiled")
def test_a_broad_question_that_no_chunk_speaks_of_is_shown_the_overview(command: Command) -> None:
    outcome = command("ask", "Give me an overview of quantum gravity")
    assert outcome.code == 0
    first, second, empty, overview = outcome.stdout.splitlines()[:4]
    assert first.startswith("Not in the corpus. The nearest chunk is ")
    assert second == "The question is a broad one. What the corpus is about, by its overview:"
    assert (empty, overview.partition(":")[0]) == ("", "Overview of handbook")


@pytest.mark.usefixtures("compiled")
def test_any_other_question_that_no_chunk_speaks_of_is_not(command: Command) -> None:
    outcome = command("ask", "Which particle mediates gravity between quarks?")
    assert outcome.stdout.startswith("Not in the corpus.")
    assert "overview" not in outcome.stdout
