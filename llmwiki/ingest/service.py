"""Ingest a folder: discover, plan, then write document by document, each in one transaction."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, StatementError

from llmwiki.config import IngestSettings, RetrievalSettings
from llmwiki.domain import Collection
from llmwiki.errors import DocumentError
from llmwiki.ingest.application import apply_document
from llmwiki.ingest.calibration import calibrate
from llmwiki.ingest.gathering import Gathered, gather
from llmwiki.ingest.planning import IngestPlan
from llmwiki.ingest.preparation import PreparedDocument, prepare
from llmwiki.ingest.reading import read_source
from llmwiki.ports import Embedder
from llmwiki.store import collections, documents, embeddings
from llmwiki.store.database_errors import told_by_database
from llmwiki.store.vector_indexes import refresh_vector_index

log = structlog.get_logger()

CHUNKS_PER_BATCH = 256
"""Chunks gathered before they are embedded: bounds memory and fills a service's batches."""

WRITES_WORTH_ANALYSING = 50
"""After so many documents the planner gets fresh statistics at once: queries that follow right
after a first ingest would otherwise be planned for empty tables."""

EXACT_BELOW = RetrievalSettings().exact_below

Progress = Callable[[str, int, int], None]
"""Called with a path, the number of files written so far, and the number to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingest did, in documents; ``embedded`` counts texts."""

    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    ignored: int
    embedded: int
    problems: tuple[DocumentError, ...]


@dataclass(slots=True)
class _Writer:
    """Carries out a plan and counts what it did."""

    engine: Engine
    embedder: Embedder
    collection: Collection
    plan: IngestPlan
    problems: list[DocumentError]
    progress: Progress
    written: int = 0
    embedded: int = 0

    def write(self, batch: list[PreparedDocument]) -> None:
        """Embed first and without a transaction, so that a failure leaves every document whole."""
        texts: dict[str, str] = {}
        for document in batch:
            texts |= document.texts_to_embed()
        self.embedded += embeddings.embed_missing(
            self.engine, self.collection, self.embedder, texts
        )
        for document in batch:
            path = document.values.path
            try:
                with self.engine.connect() as connection:
                    apply_document(connection, self.collection, document, self.plan.writes[path])
                    connection.commit()
            except StatementError as error:
                if isinstance(error, DBAPIError) and error.connection_invalidated:
                    raise
                self.problems.append(_refused_by_database(path, error))
            self.written += 1
            self.progress(path, self.written, len(self.plan.writes))

    def remove(self) -> None:
        """Remove what is gone from the folder, and note that the collection is up to date."""
        for path, document_id in self.plan.removals.items():
            with self.engine.connect() as connection:
                documents.delete_document(connection, document_id)
                connection.commit()
            log.info("ingest.document.removed", path=path)
        with self.engine.connect() as connection:
            collections.note_ingest(connection, self.collection)
            connection.commit()

    def settle(self, exact_below: int) -> None:
        """Have searches find what they need: statistics, an index, and what scores mean."""
        if self.written >= WRITES_WORTH_ANALYSING:
            collections.refresh_statistics(self.engine)
        refresh_vector_index(self.engine, self.collection, exact_below=exact_below)
        calibrate(self.engine, self.embedder, self.collection)


def ingest_folder(  # noqa: PLR0913 - one door, and each argument is a different thing
    engine: Engine,
    embedder: Embedder,
    settings: IngestSettings,
    roots: Sequence[Path],
    name: str,
    *,
    owner: str = collections.DEFAULT_OWNER,
    allow_shrink: bool = False,
    exact_below: int = EXACT_BELOW,
    progress: Progress = lambda _path, _done, _total: None,
) -> tuple[Collection, IngestReport]:
    """Bring a collection to the state of the folders, and nothing else.

    A collection of more than ``exact_below`` chunks gets an index of its vectors.
    A file that cannot be read is reported and its document kept as it was. Raises UsageError for
    roots that cannot be, ShrinkRefusedError before anything is written, ConfigurationError when
    the collection belongs to another embedder, ProviderError when embedding fails for good: what
    was written by then stays, whole documents only, and the next run goes on from there.
    """
    with engine.connect() as connection:
        known = collections.find_collection(connection, name, owner)
    if known is not None:
        collections.require_embedder(known, embedder.identity)
    gathered = gather(engine, settings, roots, known, allow_shrink=allow_shrink)
    collection = known or _create_collection(engine, embedder, name, owner)
    problems = list(gathered.problems)
    writer = _Writer(engine, embedder, collection, gathered.plan, problems, progress)
    for batch in _batches(_prepare_all(gathered, settings, problems)):
        writer.write(batch)
    writer.remove()
    writer.settle(exact_below)
    return collection, _report(gathered, problems, writer.embedded)


def foretell_ingest(
    engine: Engine,
    settings: IngestSettings,
    roots: Sequence[Path],
    name: str,
    *,
    owner: str = collections.DEFAULT_OWNER,
    allow_shrink: bool = False,
) -> IngestReport:
    """Return what an ingest would do, having parsed every file that it would write.

    Raises what an ingest would raise before it writes.
    """
    with engine.connect() as connection:
        known = collections.find_collection(connection, name, owner)
    gathered = gather(engine, settings, roots, known, allow_shrink=allow_shrink)
    problems = list(gathered.problems)
    for _ in _prepare_all(gathered, settings, problems):
        pass
    return _report(gathered, problems, 0)


def _refused_by_database(path: str, error: StatementError) -> DocumentError:
    return DocumentError(
        path,
        f"cannot be stored ({told_by_database(error)})",
        "shorten its title or headings, or split the file",
    )


def _create_collection(engine: Engine, embedder: Embedder, name: str, owner: str) -> Collection:
    with engine.connect() as connection:
        collection = collections.create_collection(connection, name, owner, embedder.identity)
        connection.commit()
    return collection


def _prepare_all(
    gathered: Gathered, settings: IngestSettings, problems: list[DocumentError]
) -> Iterator[PreparedDocument]:
    for path in gathered.plan.writes:
        try:
            data = read_source(gathered.files[path], max_bytes=settings.max_file_bytes)
            yield prepare(path, data, settings)
        except DocumentError as problem:
            log.warning("ingest.document.failed", path=path, problem=problem.problem)
            problems.append(problem)


def _batches(prepared: Iterator[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    batch: list[PreparedDocument] = []
    chunks = 0
    for document in prepared:
        batch.append(document)
        chunks += sum(len(section.chunks) for section in document.sections)
        if chunks >= CHUNKS_PER_BATCH:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


def _report(gathered: Gathered, problems: list[DocumentError], embedded: int) -> IngestReport:
    plan = gathered.plan
    failed = {problem.path for problem in problems}
    written = [path for path in plan.writes if path not in failed]
    moved = sum(path in plan.moved for path in written)
    changed = sum(path in gathered.stored for path in written)
    return IngestReport(
        added=len(written) - moved - changed,
        changed=changed,
        moved=moved,
        removed=len(plan.removals),
        unchanged=plan.unchanged,
        ignored=gathered.ignored,
        embedded=embedded,
        problems=tuple(problems),
    )
