"""The synthetic tree in a database of the test's own, compiled for the first time."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.bootstrap import App
from llmwiki.config import EmbedderSettings, Settings
from llmwiki.store.engine import Database
from tests.replay.nights import Replay
from tests.replay.synthetic import INGEST, OVERVIEW, write_tree


@pytest.fixture
def run(engine: Engine, tmp_path: Path) -> Replay:
    """A replay whose first night is over."""
    settings = Settings.model_construct(
        embedder=EmbedderSettings(provider="hashing"), ingest=INGEST, overview=OVERVIEW
    )
    app = App(settings=settings, database=Database(engine=engine))
    run = Replay(app=app, folder=tmp_path / "tree", name="lived")
    write_tree(run.folder)
    first = run.take_over(1)
    run.compile(first)
    assert first.faults == []
    assert first.compiled == first.topics
    return run
