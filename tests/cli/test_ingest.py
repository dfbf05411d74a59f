from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from llmwiki.store import runs
from tests.cli.conftest import Command


def test_the_result_goes_to_standard_output_and_logs_to_standard_error(
    command: Command, docs: Path
) -> None:
    outcome = command("ingest", str(docs), "--collection", "handbook")
    assert outcome.code == 0
    assert outcome.stdout.startswith("ingest handbook: 3 added, 0 changed, 0 moved, 0 removed")
    assert outcome.stdout.count("\n") == 1
    assert "job.started" in outcome.stderr


def test_json_is_one_object_with_what_happened(command: Command, docs: Path) -> None:
    document = command("ingest", str(docs), "--collection", "handbook", "--json").document
    assert document["schema_version"] == 1
    assert document["dry_run"] is False
    assert document["exit_code"] == 0
    assert document["added"] == 3
    assert document["problems"] == []
    assert document["overview"]["topics"] == 3
    assert isinstance(document["run_id"], int)


def test_a_second_ingest_finds_nothing_to_do(command: Command, ingested: Path) -> None:
    document = command("ingest", str(ingested), "--collection", "handbook", "--json").document
    assert (document["added"], document["changed"], document["unchanged"]) == (0, 0, 3)
    assert document["embedded"] == 0


def test_a_bad_file_is_reported_with_a_remedy_and_the_others_go_on(
    command: Command, docs: Path
) -> None:
    (docs / "broken.md").write_bytes(b"# Title\n\n\x00\x01\x02 binary \x00")
    outcome = command("ingest", str(docs), "--collection", "handbook", "--json")
    assert outcome.code == 1
    assert outcome.document["added"] == 3
    [problem] = outcome.document["problems"]
    assert problem["path"] == "broken.md"
    line = f"broken.md: {problem['problem']}; {problem['remedy']}\n"
    assert line in outcome.stderr


def test_a_path_that_does_not_exist_exits_with_2_and_writes_nothing(
    command: Command, tmp_path: Path
) -> None:
    outcome = command("ingest", str(tmp_path / "nowhere"), "--collection", "handbook")
    assert outcome.code == 2
    assert "does not exist" in outcome.stderr
    assert command("status", "--json").document["collections"] == []


def test_losing_most_documents_needs_permission(command: Command, ingested: Path) -> None:
    (ingested / "guide" / "backup.md").unlink()
    (ingested / "guide" / "alerts.md").unlink()
    arguments = ("ingest", str(ingested), "--collection", "handbook")
    refused = command(*arguments)
    assert refused.code == 2
    assert "--allow-shrink" in refused.stderr
    allowed = command(*arguments, "--allow-shrink", "--json")
    assert allowed.code == 0
    assert allowed.document["removed"] == 2


def test_a_second_ingest_of_the_collection_is_kept_out(
    command: Command, docs: Path, engine: Engine
) -> None:
    with engine.connect() as connection:
        runs.start_run(connection, "ingest:system/handbook", {}, lease=timedelta(minutes=5))
        connection.commit()
    outcome = command("ingest", str(docs), "--collection", "handbook")
    assert outcome.code == 75
    assert outcome.stdout == ""
    assert "is still alive" in outcome.stderr
    assert command("ingest", str(docs), "--collection", "other").code == 0


def test_the_owner_is_kept_apart(command: Command, docs: Path) -> None:
    for owner in ("ada", "grace"):
        arguments = ("ingest", str(docs), "--collection", "handbook", "--owner", owner)
        assert command(*arguments).code == 0
    collections = command("status", "--json").document["collections"]
    assert [found["owner"] for found in collections] == ["ada", "grace"]


def test_another_embedder_is_refused(command: Command, ingested: Path) -> None:
    command.set(EMBEDDER__PROVIDER="minilm")
    outcome = command("ingest", str(ingested), "--collection", "handbook")
    assert outcome.code == 2
    assert "llmwiki reembed --collection handbook" in outcome.stderr


@pytest.mark.usefixtures("ingested")
def test_the_run_is_recorded(engine: Engine) -> None:
    with engine.connect() as connection:
        row = connection.execute(text("SELECT job, exit_code, finished_at FROM run")).one()
    assert (row.job, row.exit_code) == ("ingest:system/handbook", 0)
    assert row.finished_at is not None
