import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.cli.conftest import Command

OLD, NEW = "ninety days", "thirty days"


def change(docs: Path) -> None:
    file = docs / "guide" / "backup.md"
    file.write_text(file.read_text().replace(OLD, NEW))


def slug_of(command: Command, word: str) -> str:
    pages = command("pages", "--json").document["pages"]
    [slug] = [page["slug"] for page in pages if word in page["slug"]]
    return str(slug)


@pytest.mark.usefixtures("compiled")
def test_a_page_in_a_pipe_is_markdown_with_its_citations(command: Command) -> None:
    outcome = command("page", slug_of(command, "backup"))
    assert outcome.code == 0
    assert outcome.stdout.startswith("# Backups\n")
    assert "draft of verbatim sentences" in outcome.stdout
    assert "[^1]: `guide/backup.md`" in outcome.stdout
    assert "## See also" in outcome.stdout
    assert "Alerts (`" in outcome.stdout
    assert "\x1b" not in outcome.stdout


@pytest.mark.usefixtures("compiled")
def test_a_page_as_json_has_its_statements_and_siblings(command: Command) -> None:
    document = command("page", slug_of(command, "backup"), "--json").document
    assert document["title"] == "Backups"
    assert all(statement["chunk_ids"] for statement in document["statements"])
    assert [sibling["title"] for sibling in document["see_also"]] == ["Alerts"]
    assert document["stale"] is False


@pytest.mark.usefixtures("compiled")
def test_the_overview_lists_every_page(command: Command) -> None:
    shown = command("page", "overview").stdout
    for page in command("pages", "--json").document["pages"]:
        assert f"[[{page['slug']}|" in shown


@pytest.mark.usefixtures("compiled")
def test_an_unknown_page_suggests_others(command: Command) -> None:
    outcome = command("page", "backup-s")
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("llmwiki: collection 'handbook' has no page 'backup-s'")


@pytest.mark.usefixtures("compiled")
def test_pages_in_a_pipe_are_lines_with_tabs(command: Command) -> None:
    lines = command("pages").stdout.splitlines()
    assert len(lines) == 3
    assert all(line.count("\t") == 2 for line in lines)


@pytest.mark.usefixtures("ingested")
def test_a_page_that_was_never_compiled_says_what_to_do(command: Command) -> None:
    slug = slug_of(command, "backup")
    assert "llmwiki drain" in command("page", slug).stdout
    assert "was never compiled" in command("why", slug).stdout
    assert len(command("pages", "--stale", "--json").document["pages"]) == 3


@pytest.mark.usefixtures("compiled")
def test_why_tells_a_fresh_page(command: Command) -> None:
    outcome = command("why", slug_of(command, "backup"))
    assert outcome.code == 0
    assert "is fresh" in outcome.stdout


def test_why_names_the_chunk_that_moved_and_what_the_page_says(
    command: Command, compiled: Path
) -> None:
    slug = slug_of(command, "backup")
    change(compiled)
    command("ingest", str(compiled), "--collection", "handbook")
    assert command("why", slug, "--json").document["state"] == "pending"
    command("sweep")
    shown = command("why", slug).stdout
    assert f"{slug} is stale since" in shown
    assert "content: guide/backup.md > Backups" in shown
    assert OLD in shown
    document = command("why", slug, "--json").document
    assert document["state"] == "stale"
    assert document["reasons"] == ["content"]
    [chunk] = document["chunks"]
    assert chunk["document_path"] == "guide/backup.md"
    assert chunk["statements"]
    other = slug_of(command, "licence")
    assert command("why", other, "--json").document["state"] == "fresh"


def test_why_names_what_was_removed(command: Command, compiled: Path) -> None:
    slug = slug_of(command, "backup")
    file = compiled / "guide" / "backup.md"
    file.write_text(file.read_text().partition("## Restoring")[0])
    command("ingest", str(compiled), "--collection", "handbook")
    command("sweep")
    shown = command("why", slug).stdout
    assert "removed: chunk" in shown
    assert "restore" in shown


@pytest.mark.usefixtures("compiled")
def test_why_tells_another_recipe(command: Command, engine: Engine) -> None:
    slug = slug_of(command, "backup")
    with engine.connect() as connection:
        connection.execute(text("UPDATE page SET recipe_hash = 'old', generator = 'draft-0'"))
        connection.commit()
    command("sweep")
    assert "recipe: written by draft-0, and extractive is configured" in command("why", slug).stdout


def test_status_counts_pages_by_their_state(command: Command, compiled: Path) -> None:
    change(compiled)
    command("ingest", str(compiled), "--collection", "handbook")
    command("sweep")
    document = command("status", "--json").document
    [figures] = document["collections"]
    assert (figures["documents"], figures["topics"], figures["pages"]) == (3, 3, 3)
    assert (figures["stale"], figures["never_compiled"], figures["drafts"]) == (1, 0, 3)
    assert figures["reasons"] == {"content": 1}
    assert {run["job"] for run in document["runs"]} == {
        "drift-sweep",
        "ingest:system/handbook",
        "nightly",
    }
    assert {record["kind"] for record in document["records"]} == {"compile-batch", "lint"}
    assert {budget["name"] for budget in document["budgets"]} == {"chat", "chat/compile", "embed"}
    shown = command("status").stdout
    assert "1 compiled pages stale" in shown
    assert "\x1b" not in shown


@pytest.mark.usefixtures("ingested")
def test_status_tells_a_dead_run_from_one_at_work(command: Command, engine: Engine) -> None:
    insert = text(
        "INSERT INTO run (job, arguments, host, process_id, heartbeat_at)"
        " VALUES (:job, '{}', 'h', 1, now() - CAST(:age AS interval))"
    )
    with engine.connect() as connection:
        connection.execute(insert, {"job": "lint", "age": "1 hour"})
        connection.execute(insert, {"job": "nightly", "age": "1 second"})
        connection.commit()
    runs = {run["job"]: run for run in command("status", "--json").document["runs"]}
    assert runs["lint"]["dead"] is True
    assert runs["nightly"]["dead"] is False


@pytest.mark.usefixtures("ingested")
def test_an_unknown_collection_lists_the_known_ones(command: Command) -> None:
    for arguments in (["status"], ["search", "disk"], ["pages"], ["sweep"]):
        outcome = command(*arguments, "--collection", "manual")
        assert outcome.code == 2
        assert outcome.stderr == "llmwiki: no collection 'manual'; known: handbook (owner system)\n"


def test_one_of_several_collections_has_to_be_chosen(command: Command, ingested: Path) -> None:
    command("ingest", str(ingested), "--collection", "copy")
    outcome = command("pages")
    assert outcome.code == 2
    assert "choose with --collection" in outcome.stderr
    assert command("pages", "--collection", "copy").code == 0


@pytest.mark.usefixtures("ingested")
def test_the_json_of_the_jobs_is_one_object(command: Command) -> None:
    for name in ("sweep", "drain", "lint", "nightly"):
        for options in (["--json"], ["--json", "--dry-run"]):
            outcome = command(name, *options)
            assert outcome.code == 0
            assert json.loads(outcome.stdout)["dry_run"] is ("--dry-run" in options)
