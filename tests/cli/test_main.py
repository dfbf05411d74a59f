import os
import subprocess
import sys
from typing import Any

import pytest
import typer.main

from llmwiki.cli.commands import COMMANDS as PLACES
from llmwiki.cli.main import app
from tests.cli.conftest import Command

GROUP: Any = typer.main.get_command(app)
COMMANDS = sorted(PLACES)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str) -> None:
    text = GROUP.get_command(None, name).help
    assert text
    assert text.strip().splitlines()[0].endswith((".", ";"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_a_help_text(name: str) -> None:
    silent = [
        parameter.name for parameter in GROUP.get_command(None, name).params if not parameter.help
    ]
    assert not silent


def test_no_command_is_lost() -> None:
    jobs = {"sweep", "drain", "lint", "nightly", "schedule"}
    writing = {"migrate", "ingest", "reembed"}
    reading = {"doctor", "status", "pages", "page", "why", "search"}
    assert jobs | writing | reading <= set(COMMANDS)


def test_a_command_imports_nothing_that_it_does_not_need() -> None:
    """The client of model services, the scheduler and the parsers take seconds to import."""
    script = (
        "import sys, llmwiki.cli.main as main\n"
        "try: main.app(['search', '--help'])\n"
        "except SystemExit: pass\n"
        "print(*sorted({'openai', 'apscheduler', 'docutils', 'ir_measures'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith("Usage: ")
    assert done.stdout.splitlines()[-1] == ""


def test_without_arguments_the_help_is_shown(bare_command: Command) -> None:
    outcome = bare_command()
    assert "migrate" in outcome.stdout + outcome.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_without_a_database(bare_command: Command, name: str) -> None:
    outcome = bare_command(name, "--help")
    assert outcome.code == 0
    assert "--help" in outcome.stdout


def test_the_version_is_one_line(bare_command: Command) -> None:
    outcome = bare_command("--version")
    assert outcome.code == 0
    assert outcome.stdout.startswith("llmwiki ")
    assert outcome.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["unknown"],
        ["sweep", "--unknown"],
        ["ingest"],
        ["ingest", "somewhere"],
        ["drain", "--budget", "-1"],
        ["drain", "--budget", "many"],
        ["search", "words", "--limit", "0"],
        ["page"],
    ],
)
def test_wrong_usage_exits_with_2_and_says_why_on_standard_error(
    command: Command, arguments: list[str]
) -> None:
    outcome = command(*arguments)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr


@pytest.mark.parametrize("name", ["sweep", "drain", "lint", "nightly", "status", "pages"])
def test_a_missing_database_url_is_told_in_one_line(bare_command: Command, name: str) -> None:
    outcome = bare_command(name)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("llmwiki: no database is configured")
    assert outcome.stderr.count("\n") == 1


def test_a_malformed_setting_is_told_in_one_line(command: Command) -> None:
    command.set(INGEST__CHUNK_TOKENS="many")
    outcome = command("status")
    assert outcome.code == 2
    assert "LLMWIKI_INGEST__CHUNK_TOKENS" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_reader_that_closes_the_pipe_is_no_error(database_url: str) -> None:
    environment = os.environ | {
        "LLMWIKI_DATABASE_URL": database_url,
        "LLMWIKI_EMBEDDER__PROVIDER": "hashing",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "llmwiki.cli.main", "status"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    process.stdout.close()
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
