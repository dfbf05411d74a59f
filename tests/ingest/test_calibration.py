from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import TransientProviderError
from llmwiki.ingest.calibration import calibrate, first_sentence
from llmwiki.ports import Vectors
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.store.calibrations import Calibration, closeness, read_calibration
from tests.support.questions import station
from tests.support.wiki import Wiki, prose


class CountingEmbedder:
    """The hashing embedder, counting texts, or failing."""

    def __init__(self, *, fails: bool = False) -> None:
        self._embedder = HashingEmbedder()
        self._fails = fails
        self.texts = 0

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        if self._fails:
            raise TransientProviderError("the service is down")
        return self._embedder.embed(texts)


def of(wiki: Wiki) -> tuple[Collection, Calibration | None]:
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        return wiki.collection, read_calibration(connection, wiki.collection)


def test_an_ingest_measures_what_scores_mean(engine: Engine, tmp_path: Path) -> None:
    _, calibration = of(station(engine, tmp_path))
    assert calibration is not None
    assert calibration.chunks == 5
    assert -0.1 < calibration.foreign_cosine < 0.2
    assert 0.3 < calibration.own_closeness <= 1
    assert (calibration.common_overlap, calibration.rare_overlap) == (0.15, 0.35)


def test_a_corpus_of_some_size_has_percentiles_of_its_own(engine: Engine, tmp_path: Path) -> None:
    wiki = Wiki(engine, tmp_path)
    wiki.ingest({f"d{n}.md": f"# Doc {n}\n\n{prose(f'thing{n}', 40)}\n" for n in range(30)})
    _, calibration = of(wiki)
    assert calibration is not None
    assert 0 < calibration.common_overlap <= calibration.rare_overlap < 1
    assert (calibration.common_overlap, calibration.rare_overlap) != (0.15, 0.35)


def test_it_is_measured_again_only_when_the_corpus_is_another(
    engine: Engine, tmp_path: Path
) -> None:
    collection, _ = of(station(engine, tmp_path))
    embedder = CountingEmbedder()
    assert not calibrate(engine, embedder, collection)
    assert embedder.texts == 0
    station(engine, tmp_path).change(
        "UPDATE collection SET evidence_levels = jsonb_set(evidence_levels, '{chunks}', '50')"
    )
    assert calibrate(engine, embedder, collection)
    assert embedder.texts == 50 + 5


def test_an_embedder_that_fails_leaves_the_figures_as_they_are(
    engine: Engine, tmp_path: Path
) -> None:
    wiki = station(engine, tmp_path)
    collection, before = of(wiki)
    wiki.change(
        "UPDATE collection SET evidence_levels = jsonb_set(evidence_levels, '{chunks}', '50')"
    )
    assert not calibrate(engine, CountingEmbedder(fails=True), collection)
    _, after = of(wiki)
    assert before is not None
    assert after is not None
    assert after.own_closeness == before.own_closeness


def test_figures_of_another_embedder_are_none(engine: Engine, tmp_path: Path) -> None:
    wiki = station(engine, tmp_path)
    wiki.change("UPDATE collection SET embedder = 'another'")
    assert wiki.collection is not None
    other = EmbedderIdentity(name="another", dimension=384)
    with engine.connect() as connection:
        collection = Collection(id=wiki.collection.id, name="docs", owner="system", embedder=other)
        assert read_calibration(connection, collection) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# A\n\nOne two three four. Five.", "One two three four."),
        ("short", "short"),
        ("word " * 40, " ".join(["word"] * 25)),
    ],
)
def test_the_first_sentence_is_as_long_as_a_question(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(("chunks", "needed"), [(1, 0.36), (1000, 0.72), (10**9, 0.72)])
def test_a_larger_corpus_asks_for_more(chunks: int, needed: float) -> None:
    calibration = Calibration(
        embedder="e",
        chunks=chunks,
        foreign_cosine=0.1,
        own_closeness=0.8,
        common_overlap=0.1,
        rare_overlap=0.3,
    )
    assert calibration.needed == pytest.approx(needed)


@pytest.mark.parametrize(
    ("cosine", "foreign", "near"),
    [(0.1, 0.1, 0.0), (1.0, 0.1, 1.0), (-1.0, 0.1, 0.0), (0.55, 0.1, 0.5), (1.0, 1.0, 0.0)],
)
def test_closeness_begins_where_foreign_questions_are(
    cosine: float, foreign: float, near: float
) -> None:
    assert closeness(cosine, foreign) == pytest.approx(near)
