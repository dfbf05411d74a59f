import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from llmwiki.cli.main import app


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON object that is all of standard output."""
        parsed: dict[str, Any] = json.loads(self.stdout)
        return parsed


class Command:
    """Runs `llmwiki` in this process, against the test's own database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def set(self, **variables: str) -> None:
        for name, value in variables.items():
            self._monkeypatch.setenv(f"LLMWIKI_{name}", value)

    def unset(self, name: str) -> None:
        self._monkeypatch.delenv(f"LLMWIKI_{name}")

    def __call__(self, *arguments: str) -> Outcome:
        result = CliRunner().invoke(app, list(arguments))
        # The logs went to a standard error that the runner has closed by now.
        structlog.reset_defaults()
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Outcome(code=result.exit_code, stdout=result.stdout, stderr=result.stderr)


@pytest.fixture
def bare_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Command]:
    """The command without a database, in a folder without llmwiki.toml."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.chdir(tmp_path)
    command = Command(monkeypatch)
    # A page for each document, however small.
    command.set(EMBEDDER__PROVIDER="hashing", OVERVIEW__SMALL_DOCUMENT_TOKENS="0")
    yield command
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def command(bare_command: Command, database_url: str) -> Command:
    bare_command.set(DATABASE_URL=database_url)
    return bare_command


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "guide").mkdir(parents=True)
    (folder / "guide" / "backup.md").write_text(
        "# Backups\n\nA full backup is made every Sunday at three o'clock. It is kept for "
        "ninety days in the vault.\n\n## Restoring\n\nRun `restore --from-vault` with the number "
        "of the backup. The command `restore_archive` reads the archive and checks each block.\n"
    )
    (folder / "guide" / "alerts.md").write_text(
        "# Alerts\n\nAn alert is sent to the operator on duty when a disk is fuller than ninety "
        "percent. Alerts repeat every ten minutes until somebody acknowledges them.\n"
    )
    (folder / "licence.md").write_text(
        "# Licence\n\nThe software may be copied and changed by anybody. There is no warranty of "
        "any kind, and the authors are not liable for damages.\n"
    )
    return folder


@pytest.fixture
def ingested(command: Command, docs: Path) -> Path:
    """The folder of documents, ingested as collection ``handbook``."""
    assert command("ingest", str(docs), "--collection", "handbook").code == 0
    return docs


@pytest.fixture
def compiled(command: Command, ingested: Path) -> Path:
    """The same with a night behind it."""
    night = command("nightly")
    assert night.code == 0, night.stdout + night.stderr
    return ingested
