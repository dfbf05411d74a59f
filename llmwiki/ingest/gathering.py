"""Gathers what an ingest decides from: the files of the folders and the documents stored."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sqlalchemy import Engine

from llmwiki.config import IngestSettings
from llmwiki.domain import Collection, DocumentId
from llmwiki.errors import DocumentError
from llmwiki.ingest.discovery import SourceFile, discover
from llmwiki.ingest.planning import IngestPlan, find_moves, plan_ingest, refuse_shrinking
from llmwiki.ingest.preparation import fingerprint, prepare
from llmwiki.ingest.reading import read_source
from llmwiki.store import documents
from llmwiki.store.documents import StoredDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The folders against the collection, and the plan that follows."""

    files: Mapping[str, SourceFile]
    stored: Mapping[str, StoredDocument]
    plan: IngestPlan
    problems: tuple[DocumentError, ...]
    """Files that could not even be read; their documents stay as they are."""
    ignored: int


def gather(
    engine: Engine,
    settings: IngestSettings,
    roots: Sequence[Path],
    collection: Collection | None,
    *,
    allow_shrink: bool,
) -> Gathered:
    """Compare the folders with the collection (None: not there yet); nothing is written.

    Raises UsageError for roots that cannot be, ShrinkRefusedError for a plan that would empty
    or halve the collection.
    """
    discovery = discover(roots)
    files = {file.path: file for file in discovery.files}
    problems = list(discovery.problems)
    found = dict(_fingerprints(files.values(), settings, problems))
    stored = {} if collection is None else _stored(engine, collection)
    present = frozenset(files) | _out_of_sight(stored, discovery.problems)
    moves = find_moves(
        found,
        present,
        stored,
        lambda ids: _stored_chunks(engine, ids),
        lambda path: _chunks(files[path], settings),
    )
    plan = plan_ingest(found, present, stored, moves)
    if not allow_shrink:
        refuse_shrinking(plan, len(stored), len(found))
    return Gathered(
        files=files,
        stored=stored,
        plan=plan,
        problems=tuple(problems),
        ignored=discovery.ignored,
    )


def _stored(engine: Engine, collection: Collection) -> Mapping[str, StoredDocument]:
    with engine.connect() as connection:
        return documents.stored_documents(connection, collection)


def _out_of_sight(stored: Iterable[str], problems: Sequence[DocumentError]) -> set[str]:
    """Return the paths of which nothing can be said today: the problems, and all below them.

    A folder that cannot be listed, or a link to one that is not mounted, removes nothing.
    """
    blocked = {problem.path for problem in problems}
    return blocked | {
        path
        for path in stored
        if any(str(parent) in blocked for parent in PurePosixPath(path).parents)
    }


def _fingerprints(
    files: Iterable[SourceFile], settings: IngestSettings, problems: list[DocumentError]
) -> Iterator[tuple[str, str]]:
    for file in files:
        try:
            data = read_source(file, max_bytes=settings.max_file_bytes)
        except DocumentError as problem:
            problems.append(problem)
        else:
            yield file.path, fingerprint(file.path, data, settings)


def _stored_chunks(
    engine: Engine, document_ids: list[DocumentId]
) -> Mapping[DocumentId, Counter[str]]:
    chunks: dict[DocumentId, Counter[str]] = defaultdict(Counter)
    with engine.connect() as connection:
        for document_id, hash_ in documents.chunk_hashes(connection, document_ids):
            chunks[document_id][hash_] += 1
    return chunks


def _chunks(file: SourceFile, settings: IngestSettings) -> Counter[str]:
    try:
        prepared = prepare(
            file.path, read_source(file, max_bytes=settings.max_file_bytes), settings
        )
    except DocumentError:
        return Counter()  # reported when the file's turn comes
    return Counter(chunk.content_hash for section in prepared.sections for chunk in section.chunks)
