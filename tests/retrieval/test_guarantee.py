"""The wiki never gates recall: what the flat tiers return stands in every context.

Over the whole question sets of ``--datasets PATH``, and over a small corpus in any case.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from llmwiki.config import IngestSettings, OverviewSettings, Settings
from llmwiki.domain import Collection
from llmwiki.evaluation.corpus import load_corpus
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.reading import read_dataset
from llmwiki.overview.service import refresh_overview
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.evidence.service import PlanLibrary
from llmwiki.retrieval.service import retrieve
from llmwiki.retrieval.wiki_pages import WikiUse
from tests.support.questions import STATION, station
from tests.support.wiki import HASHING, Wiki

NAMES = ("claude-docs-qa", "hotpotqa-100", "cranfield", "cisi", "sec10q-multidoc")


def members(context: Context) -> set[int]:
    return {chunk_id for block in context.blocks for chunk_id in block.chunk_ids}


def assert_guarantee(wiki: Wiki, questions: list[str], collection: str) -> int:
    """Compare every question with the wiki on and off; return how many got pages.

    What is compared with are the flat tiers alone: no pages, and no places kept for families.
    """
    with_pages = 0
    plain = wiki.app.retrieval
    flat_parts = replace(
        plain,
        settings=plain.settings.model_copy(update={"automatic_families": False}),
        plans=PlanLibrary(),
    )
    for question in questions:
        contexts: dict[WikiUse, Context] = {}
        for use in ("off", "on"):
            contexts[use] = retrieve(wiki.app.retrieval, question, collection=collection, wiki=use)
        alone = retrieve(flat_parts, question, collection=collection, wiki="off")
        flat = [candidate.id for candidate in alone.ranking]
        assert flat, question
        assert contexts["on"].ranking == contexts["off"].ranking, question
        assert set(flat) <= members(contexts["off"]), question
        assert set(flat) <= members(contexts["on"]), question
        with_pages += bool(contexts["on"].pages)
    return with_pages


def make_every_page_stale(wiki: Wiki) -> None:
    wiki.change("UPDATE page_source SET source_hash_at_compile = 'moved'")
    wiki.sweep()


def test_flat_chunks_stand_in_the_context_with_the_wiki_on_off_and_stale(
    engine: Engine, tmp_path: Path
) -> None:
    wiki = station(engine, tmp_path)
    wiki.night()
    questions = [f"What about {word}?" for word in " ".join(STATION.values()).split()[::9]]
    assert assert_guarantee(wiki, questions, "docs") == len(questions)
    make_every_page_stale(wiki)
    assert assert_guarantee(wiki, questions, "docs") == len(questions)


@pytest.fixture(params=NAMES)
def dataset(request: pytest.FixtureRequest) -> Dataset:
    folder: Path | None = request.config.getoption("--datasets")
    if folder is None:
        pytest.skip("needs --datasets PATH, a folder of question sets")
    return read_dataset(folder / request.param)


def test_the_guarantee_holds_for_every_question_of_a_set(
    engine: Engine, tmp_path: Path, dataset: Dataset
) -> None:
    wiki = Wiki(engine, tmp_path, Settings(embedder=HASHING))
    loaded = load_corpus(engine, wiki.app.embedder, IngestSettings(), dataset)
    wiki.collection = compile_drafts(wiki, loaded.collection)
    questions = [query.text for query in dataset.queries]
    assert assert_guarantee(wiki, questions, loaded.collection.name) > 0
    make_every_page_stale(wiki)
    with engine.connect() as connection:
        served = connection.execute(text("SELECT bool_and(stale) FROM page WHERE kind = 'page'"))
        assert served.scalar_one()
    assert assert_guarantee(wiki, questions, loaded.collection.name) > 0


def compile_drafts(wiki: Wiki, collection: Collection) -> Collection:
    refresh_overview(wiki.engine, wiki.app.embedder, OverviewSettings(), collection)
    wiki.collection = collection
    wiki.sweep()
    wiki.drain()
    return collection
