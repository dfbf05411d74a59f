from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest
from sqlalchemy import Engine

from llmwiki.config import IngestSettings, OverviewSettings
from llmwiki.domain import Collection
from llmwiki.ingest.service import ingest_folder
from llmwiki.overview.service import refresh_overview
from llmwiki.providers.hashing_embedder import HashingEmbedder

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
