import pytest
from sqlalchemy import Engine, text

from tests.cli.conftest import Command

SLUG = "guide/backup"


@pytest.mark.usefixtures("compiled")
def test_a_fresh_page_is_written_anew_and_no_other(command: Command) -> None:
    document = command("compile", SLUG, "--json").document
    assert (document["compiled"], document["remaining_stale"]) == (1, 0)
    revisions = command("revisions", SLUG, "--json").document["revisions"]
    assert [revision["number"] for revision in revisions] == [2, 1]


@pytest.mark.usefixtures("ingested")
def test_a_page_without_a_text_can_be_compiled_alone(command: Command) -> None:
    assert command("compile", SLUG).code == 0
    assert command("page", SLUG).code == 0
    assert "never-compiled" in command("pages").stdout


@pytest.mark.usefixtures("compiled")
def test_the_contents_page_is_not_compiled(command: Command) -> None:
    outcome = command("compile", "overview")
    assert outcome.code == 2
    assert "llmwiki ingest" in outcome.stderr


@pytest.mark.usefixtures("compiled")
def test_a_page_of_a_model_is_not_replaced_by_a_draft_unless_forced(
    command: Command, engine: Engine
) -> None:
    with engine.connect() as connection:
        connection.execute(text("UPDATE page SET generator_kind = 'model', generator = 'openai:x'"))
        connection.commit()
    refused = command("compile", SLUG)
    assert (refused.code, "--force" in refused.stderr) == (2, True)
    assert command("compile", SLUG, "--force").code == 0


@pytest.mark.usefixtures("compiled")
def test_an_unknown_page_names_others(command: Command) -> None:
    outcome = command("compile", "guide/bakcup")
    assert outcome.code == 2
    assert "no page" in outcome.stderr
