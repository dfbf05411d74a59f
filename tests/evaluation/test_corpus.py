import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from llmwiki.config import IngestSettings
from llmwiki.errors import UsageError
from llmwiki.evaluation.corpus import (
    as_markdown,
    document_path,
    load_corpus,
    match_corpus,
    problems_of,
)
from llmwiki.evaluation.dataset import CorpusDocument
from llmwiki.evaluation.reading import read_dataset
from llmwiki.parsing.parsers import parse
from llmwiki.providers.hashing_embedder import HashingEmbedder
from tests.evaluation.conftest import CORPUS, JUDGMENTS, DatasetFolder
from tests.support.wiki import Wiki

SETTINGS = IngestSettings()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(TEXT, unique=True, min_size=2, max_size=2))
def test_distinct_ids_have_distinct_paths_of_one_safe_segment(ids: list[str]) -> None:
    first, second = map(document_path, ids)
    assert first.casefold() != second.casefold()
    for path in (first, second):
        assert path.endswith(".md")
        assert "/" not in path
        assert not path.startswith(".")
        assert len(path.encode()) < 255


def test_a_path_is_the_same_on_every_run_and_can_be_read() -> None:
    path = document_path("https://example.org/guide#Set-up")
    assert path == document_path("https://example.org/guide#Set-up")
    assert path.startswith("https-example.org-guide-set-up-")


@given(title=TEXT, text=TEXT)
def test_the_title_of_the_dataset_is_the_title_of_the_document(title: str, text: str) -> None:
    document = CorpusDocument(id="x", title=title, text=text, metadata={"version": "1.10"})
    parsed = parse("x.md", as_markdown(document).encode())
    assert parsed.metadata["version"] == "1.10"
    if any(character.isalnum() for character in title):
        assert parsed.title == " ".join(title.replace("\0", "").split())


def test_documents_go_through_the_ordinary_ingest(
    wiki: Wiki, dataset_folder: DatasetFolder
) -> None:
    first = {**CORPUS[0], "metadata": {"authority_tier": "official", "version": "2"}}
    dataset = read_dataset(dataset_folder(corpus=[first, *CORPUS[1:]]))
    loaded = load_corpus(wiki.engine, HashingEmbedder(), SETTINGS, dataset)
    assert (loaded.collection.name, loaded.collection.owner) == ("small", "evaluation")
    assert sorted(loaded.ids.values()) == ["alerts", "backup", "colours"]
    rows = wiki.rows("SELECT path, title, authority_tier, version FROM document")
    assert {(loaded.ids[path], *rest) for path, *rest in rows} == {
        ("backup", "Backups", "official", "2"),
        ("alerts", "Alerts", None, None),
        ("colours", "Colours", None, None),
    }
    breadcrumbs = wiki.rows("SELECT DISTINCT breadcrumb FROM chunk ORDER BY breadcrumb")
    assert breadcrumbs == [(["Alerts"],), (["Backups"],), (["Colours"],)]


def test_an_unchanged_corpus_is_not_embedded_again(
    engine: Engine, dataset_folder: DatasetFolder
) -> None:
    dataset = read_dataset(dataset_folder())
    load_corpus(engine, HashingEmbedder(), SETTINGS, dataset)
    again = load_corpus(engine, HashingEmbedder(), SETTINGS, dataset).ingested
    assert again is not None
    assert (again.unchanged, again.embedded, again.removed) == (3, 0, 0)


def test_a_corpus_that_shrinks_is_followed(engine: Engine, dataset_folder: DatasetFolder) -> None:
    load_corpus(engine, HashingEmbedder(), SETTINGS, read_dataset(dataset_folder()))
    judgments = "query-id\tcorpus-id\tscore\nq1\tbackup\t1\n"
    smaller = read_dataset(dataset_folder(corpus=CORPUS[:1], judgments=judgments))
    loaded = load_corpus(engine, HashingEmbedder(), SETTINGS, smaller)
    assert loaded.ingested is not None
    assert loaded.ingested.removed == 2
    assert list(loaded.ids.values()) == ["backup"]


def test_documents_that_cannot_be_loaded_are_told_and_the_others_are(
    engine: Engine, dataset_folder: DatasetFolder
) -> None:
    broken = {"_id": "broken", "text": "x", "metadata": {"long": "x" * 100_000}}
    dataset = read_dataset(dataset_folder(corpus=[*CORPUS, broken], judgments=JUDGMENTS))
    loaded = load_corpus(engine, HashingEmbedder(), SETTINGS, dataset)
    [line] = problems_of([loaded])
    assert line.startswith("small: broken-")
    assert loaded.ingested is not None
    assert loaded.ingested.added == 3


def test_a_collection_that_exists_is_matched_by_the_paths_of_its_documents(
    wiki: Wiki, dataset_folder: DatasetFolder
) -> None:
    wiki.ingest({"guide/backup.md": "# Backups\n\nOn Sunday.\n", "more.md": "# More\n\nElse.\n"})
    assert wiki.collection is not None
    judgments = "query-id\tcorpus-id\tscore\nq1\tguide/backup.md\t1\nq2\tguide/gone.md\t0\n"
    folder = dataset_folder(corpus=None, judgments=judgments)
    dataset = read_dataset(folder, with_corpus=False)
    matched = match_corpus(wiki.engine, wiki.collection, dataset)
    assert matched.ids == {"guide/backup.md": "guide/backup.md", "more.md": "more.md"}
    assert problems_of([matched]) == ()


def test_a_collection_without_a_relevant_document_is_refused(
    wiki: Wiki, dataset_folder: DatasetFolder
) -> None:
    wiki.ingest({"other.md": "# Other\n\nText.\n"})
    assert wiki.collection is not None
    dataset = read_dataset(dataset_folder(corpus=None), with_corpus=False)
    with pytest.raises(UsageError, match=r"lacks 2 of the relevant documents .* 'alerts'"):
        match_corpus(wiki.engine, wiki.collection, dataset)
