import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest
from sqlalchemy import Engine, create_engine

from llmwiki.config import IngestSettings, OverviewSettings
from llmwiki.domain import Collection
from llmwiki.ingest.service import ingest_folder
from llmwiki.overview.service import refresh_overview
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.deadline import THREAD_PREFIX
from tests.support.databases import Databases
from tests.support.reranking import Session

DOCUMENTS = {
    "backup.md": "# Backups\n\nA full backup runs on Sunday. Set `max_age` to keep it longer.\n",
    "alerts.md": "# Alerts\n\nA full disk raises an alert. Alerts reach the operator by mail.\n",
    "flags.md": "# Flags\n\nThe option --dry-run shows what would happen. It can't break a disk.\n",
    "other.md": "# Colours\n\nGreen means ready, red means broken, amber means wait.\n",
}


class Ingest(Protocol):
    """Ingests documents, given by path and text, into a collection of that name."""

    def __call__(self, documents: Mapping[str, str], name: str = "test") -> Collection: ...


@pytest.fixture
def ingest(engine: Engine, tmp_path: Path) -> Ingest:
    """Ingests documents given by path and text."""

    def work(documents: Mapping[str, str], name: str = "test") -> Collection:
        folder = tmp_path / name
        for path, content in documents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        embedder = HashingEmbedder()
        collection, _ = ingest_folder(engine, embedder, IngestSettings(), [folder], name)
        refresh_overview(engine, embedder, OverviewSettings(), collection)
        return collection

    return work


@pytest.fixture(scope="module")
def shared_engine(databases: Databases) -> Iterator[Engine]:
    """An engine on a database that the tests of a module share."""
    with databases.empty() as url:
        engine = create_engine(url)
        yield engine
        engine.dispose()


@pytest.fixture
def session(shared_engine: Engine) -> Iterator[Session]:
    """Reranks, with nothing kept and nothing spent before.

    Ends when every thread that was given up has ended, so that none works into another test.
    """
    opened = Session(shared_engine)
    opened.execute("DELETE FROM kept_answer; DELETE FROM call; DELETE FROM budget_day")
    yield opened
    for thread in threading.enumerate():
        if thread.name.startswith(THREAD_PREFIX):
            thread.join(timeout=20.0)
