from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.config import IngestSettings, OverviewSettings
from llmwiki.domain import Collection
from llmwiki.ingest.service import ingest_folder
from llmwiki.overview.service import refresh_overview
from llmwiki.providers.hashing_embedder import HashingEmbedder

Ingest = Callable[[Mapping[str, str]], Collection]


@pytest.fixture
def ingest(engine: Engine, tmp_path: Path) -> Ingest:
    """Ingests documents given by path and text."""

    def work(documents: Mapping[str, str]) -> Collection:
        folder = tmp_path / "documents"
        for path, content in documents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        embedder = HashingEmbedder()
        collection, _ = ingest_folder(engine, embedder, IngestSettings(), [folder], "test")
        refresh_overview(engine, embedder, OverviewSettings(), collection)
        return collection

    return work
