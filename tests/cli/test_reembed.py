from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import ConfigurationError, TransientProviderError
from llmwiki.ingest import reembedding
from llmwiki.ingest.reembedding import reembed_collection
from llmwiki.ports import Vectors
from llmwiki.store.collections import select_collections
from tests.cli.conftest import Command


class Embedder:
    """Another vector space; fails after so many batches."""

    def __init__(self, *, batches: int = 1000, name: str = "other", dimension: int = 3) -> None:
        self.identity = EmbedderIdentity(name=name, dimension=dimension)
        self.embedded: list[str] = []
        self._batches = batches

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._batches == 0:
            raise TransientProviderError("down")
        self._batches -= 1
        self.embedded += texts
        vectors: Vectors = np.eye(self.identity.dimension, dtype=np.float32)[
            np.zeros(len(texts), dtype=int)
        ]
        return vectors


def collection_of(engine: Engine) -> Collection:
    with engine.connect() as connection:
        [collection] = select_collections(connection)
    return collection


def vectors_by_embedder(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT embedder, count(*) FROM embedding GROUP BY 1"))
        return {row[0]: row[1] for row in rows}


def test_the_command_changes_over_to_the_configured_embedder(
    command: Command, ingested: Path, engine: Engine
) -> None:
    before = vectors_by_embedder(engine)["hashing-1"]
    command.set(EMBEDDER__PROVIDER="minilm")
    outcome = command("reembed", "--collection", "handbook", "--json")
    assert outcome.code == 0
    assert outcome.document["embedded"] == before
    assert outcome.document["dropped"] == before
    assert list(vectors_by_embedder(engine)) == ["all-MiniLM-L6-v2-int8"]
    assert command("ingest", str(ingested), "--collection", "handbook").code == 0
    events = command("search", "a full disk", "--json", "--trace").document["events"]
    ended = {event["step"]: event["status"] for event in events if event["status"] != "active"}
    assert ended["dense"] == "done"
    again = command("reembed", "--collection", "handbook")
    assert "stays with all-MiniLM-L6-v2-int8; 0 texts embedded" in again.stdout


@pytest.mark.usefixtures("ingested")
def test_an_unknown_collection_is_refused(command: Command) -> None:
    outcome = command("reembed", "--collection", "manual")
    assert outcome.code == 2
    assert "known: handbook" in outcome.stderr


@pytest.mark.usefixtures("ingested")
def test_a_run_that_breaks_off_changes_nothing_and_the_next_goes_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "TEXTS_PER_BATCH", 2)
    collection = collection_of(engine)
    failing = Embedder(batches=1)
    with pytest.raises(TransientProviderError):
        reembed_collection(engine, failing, collection)
    assert collection_of(engine) == collection
    assert vectors_by_embedder(engine)["other"] == 2
    working = Embedder()
    steps: list[tuple[int, int]] = []
    report = reembed_collection(
        engine, working, collection, progress=lambda _name, done, total: steps.append((done, total))
    )
    assert not set(working.embedded) & set(failing.embedded)
    assert collection_of(engine).embedder == working.identity
    assert steps[-1] == (report.embedded, report.embedded)
    assert set(vectors_by_embedder(engine)) == {"other"}


@pytest.mark.usefixtures("ingested")
def test_one_name_with_two_dimensions_is_refused(engine: Engine) -> None:
    with pytest.raises(ConfigurationError, match="dimensions"):
        reembed_collection(engine, Embedder(name="hashing-1"), collection_of(engine))
