from pathlib import Path

import pytest

from tests.cli.conftest import Command

SLUG = "guide/backup"
OLD, NEW = "ninety days", "thirty days"


@pytest.fixture
def twice(command: Command, compiled: Path) -> Path:
    """Two nights, between which a document was edited."""
    file = compiled / "guide" / "backup.md"
    file.write_text(file.read_text().replace(OLD, NEW))
    assert command("ingest", str(compiled), "--collection", "handbook").code == 0
    assert command("nightly").code == 0
    assert NEW in command("page", SLUG).stdout
    return compiled


@pytest.mark.usefixtures("twice")
def test_revisions_lists_them_newest_first(command: Command) -> None:
    lines = command("revisions", SLUG).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["2", "1"]
    assert lines[0].endswith("\tcurrent")
    document = command("revisions", SLUG, "--json").document
    assert (document["current"], document["pinned"]) == (2, False)
    assert {revision["generator"] for revision in document["revisions"]} == {"extractive"}


@pytest.mark.usefixtures("ingested")
def test_a_page_without_a_text_has_no_revisions(command: Command) -> None:
    assert command("revisions", SLUG).stdout == f"page {SLUG} has no revisions\n"


@pytest.mark.usefixtures("twice")
def test_an_old_revision_can_be_read(command: Command) -> None:
    shown = command("page", SLUG, "--revision", "1").stdout
    assert OLD in shown
    assert "revision 1 by extractive" in shown
    assert "current is 2" in shown
    assert "[^1]: `guide/backup.md`" in shown
    document = command("page", SLUG, "--revision", "1", "--json").document
    assert document["number"] == 1
    assert OLD in document["page"]["body"]


@pytest.mark.usefixtures("twice")
def test_a_rollback_says_what_it_did_and_is_seen_everywhere(command: Command) -> None:
    outcome = command("rollback", SLUG)
    assert outcome.code == 0
    assert "revision 1, compiled" in outcome.stdout
    assert "it is revision 3 now" in outcome.stdout
    page = command("page", SLUG).stdout
    assert OLD in page
    assert "pinned" in page
    assert "is pinned since" in command("why", SLUG).stdout
    assert "current, pinned; the text of 1" in command("revisions", SLUG).stdout
    assert command("nightly").code == 0
    assert OLD in command("page", SLUG).stdout


@pytest.mark.usefixtures("twice")
def test_a_dry_run_of_a_rollback_only_tells(command: Command) -> None:
    outcome = command("rollback", SLUG, "1", "--dry-run")
    assert "would return from revision 2 to revision 1" in outcome.stdout
    document = command("rollback", SLUG, "--dry-run", "--json").document
    assert (document["dry_run"], document["restored"], document["revision"]) == (True, 1, None)
    assert NEW in command("page", SLUG).stdout


@pytest.mark.usefixtures("twice")
def test_a_revision_that_is_not_kept_is_an_error_that_lists_the_others(command: Command) -> None:
    for arguments in (["rollback", SLUG, "9"], ["page", SLUG, "--revision", "9"]):
        outcome = command(*arguments)
        assert (outcome.code, outcome.stdout) == (2, "")
        assert "no revision 9; there are 1, 2" in outcome.stderr


@pytest.mark.usefixtures("twice")
def test_two_texts_at_once_are_refused(command: Command) -> None:
    outcome = command("page", SLUG, "--revision", "1", "--refused")
    assert outcome.code == 2
    assert "pass one of them" in outcome.stderr
