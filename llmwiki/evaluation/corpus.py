"""Brings the corpus of a dataset into a collection, or finds it in one that exists.

The documents go through the ordinary ingest, so that they are cut, headed and embedded as those
of a user are. A file's name follows from the document's id alone: the next run finds the same
names, and embeds only what changed.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from sqlalchemy import Engine

from llmwiki.config import IngestSettings
from llmwiki.domain import Collection
from llmwiki.errors import UsageError
from llmwiki.evaluation.dataset import CorpusDocument, Dataset
from llmwiki.ingest.service import EXACT_BELOW, IngestReport, ingest_folder
from llmwiki.ports import Embedder
from llmwiki.store.documents import stored_documents
from llmwiki.text.slugs import slugify

OWNER = "evaluation"
"""Owns the collections that evaluations make."""

_SLUG_CHARACTERS = 60
_MISSING_SHOWN = 3

Progress = Callable[[str, int, int], None]
"""Called with what was done last, how many are done, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCorpus:
    """A collection that holds the corpus, and whose document is which."""

    collection: Collection
    ids: Mapping[str, str]
    """The dataset's id of a document by its path in the collection."""
    ingested: IngestReport | None = None
    """What the ingest did; None for a collection that existed."""


def load_corpus(
    engine: Engine,
    embedder: Embedder,
    settings: IngestSettings,
    dataset: Dataset,
    *,
    exact_below: int = EXACT_BELOW,
    progress: Progress = lambda _what, _done, _total: None,
) -> LoadedCorpus:
    """Bring the collection of the dataset's name to the state of its corpus.

    A collection of more than ``exact_below`` chunks gets an index of its vectors. Raises what
    ``ingest_folder`` raises, but not ShrinkRefusedError: the collection is ours.
    """
    paths = {document_path(document.id): document for document in dataset.documents}
    with tempfile.TemporaryDirectory(prefix="llmwiki-evaluation-") as name:
        folder = Path(name)
        for path, document in paths.items():
            (folder / path).write_text(as_markdown(document), encoding="utf-8", newline="\n")
        collection, report = ingest_folder(
            engine,
            embedder,
            settings,
            [folder],
            dataset.name,
            owner=OWNER,
            allow_shrink=True,
            exact_below=exact_below,
            progress=progress,
        )
    return LoadedCorpus(
        collection=collection,
        ids={path: document.id for path, document in paths.items()},
        ingested=report,
    )


def match_corpus(engine: Engine, collection: Collection, dataset: Dataset) -> LoadedCorpus:
    """Find the judged documents in a collection, where their ids are its documents' paths.

    Raises UsageError when a relevant document is not there.
    """
    with engine.connect() as connection:
        stored = stored_documents(connection, collection)
    missing = sorted(dataset.relevant_documents().difference(stored))
    if missing:
        shown = ", ".join(repr(document_id) for document_id in missing[:_MISSING_SHOWN])
        raise UsageError(
            f"collection {collection.name!r} lacks {len(missing)} of the relevant documents of "
            f"{dataset.name}, as {shown}; the corpus-id of a judgment has to be a document's path"
        )
    return LoadedCorpus(collection=collection, ids={path: path for path in stored})


def document_path(document_id: str) -> str:
    """Return the file name for a document: readable, safe, and distinct for distinct ids."""
    digest = hashlib.sha256(document_id.encode()).hexdigest()[:12]
    readable = slugify(document_id)[:_SLUG_CHARACTERS].strip("-._")
    return f"{readable}-{digest}.md" if readable else f"{digest}.md"


def as_markdown(document: CorpusDocument) -> str:
    """Return the document as a file; title and metadata are its front matter."""
    title = {"title": document.title} if document.title.strip() else {}
    front_matter = yaml.safe_dump({**document.metadata, **title}, allow_unicode=True)
    # A NUL makes a file a binary one.
    text = document.text.replace("\0", " ")
    return f"---\n{front_matter}---\n\n{text}\n"


def problems_of(corpora: Iterable[LoadedCorpus]) -> tuple[str, ...]:
    """Return the documents that could not be loaded, in a line each."""
    return tuple(
        f"{corpus.collection.name}: {problem}"
        for corpus in corpora
        if corpus.ingested is not None
        for problem in corpus.ingested.problems
    )
