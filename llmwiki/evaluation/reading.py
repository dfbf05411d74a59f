"""Reads a dataset from its folder, and names file and line of whatever is wrong with it.

corpus.jsonl   {"_id": …, "title": …, "text": …, "metadata": {…}}   title and metadata optional
queries.jsonl  {"_id": …, "text": …}
qrels.tsv      query-id, corpus-id, score, and optionally family; a header line, tabs between

Without a family column each relevant document is a family of its own, so that a complete answer
has all of them. An empty cell of the column requires nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llmwiki.errors import UsageError
from llmwiki.evaluation.dataset import CorpusDocument, Dataset, Judgment, Query

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
JUDGMENTS = "qrels.tsv"

_COLUMNS = ("query-id", "corpus-id", "score", "family")


def read_dataset(folder: Path, *, ordinary: bool = False, with_corpus: bool = True) -> Dataset:
    """Read the dataset; its name is the folder's.

    Without its corpus the ids of documents are taken as they stand in the judgments. Raises
    UsageError, with file and line, for a file that is missing, empty or malformed, an id that
    occurs twice, a judgment on a question or document that there is not.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one that holds {QUERIES} and {JUDGMENTS}")
    documents = read_corpus(folder / CORPUS) if with_corpus else ()
    queries = _read_queries(folder / QUERIES)
    judgments = _read_judgments(
        folder / JUDGMENTS,
        queries=frozenset(query.id for query in queries),
        documents=frozenset(document.id for document in documents) if with_corpus else None,
        ordinary=ordinary,
    )
    answerable = tuple(
        query
        for query in queries
        if any(judgment.score > 0 for judgment in judgments.get(query.id, ()))
    )
    if not answerable:
        raise UsageError(
            f"{folder / JUDGMENTS}: no question has a document with a score above 0; "
            "there is nothing to measure"
        )
    return Dataset(
        name=folder.resolve().name,
        documents=documents,
        queries=answerable,
        judgments={query.id: judgments[query.id] for query in answerable},
        left_out=len(queries) - len(answerable),
        ordinary=ordinary,
    )


def read_corpus(path: Path) -> tuple[CorpusDocument, ...]:
    """Read the documents of a corpus. Raises UsageError as ``read_dataset`` does."""
    documents = []
    for place, entry in _entries(path):
        metadata = entry.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise UsageError(f"{place}: metadata is no JSON object")
        documents.append(
            CorpusDocument(
                id=_text(entry, "_id", place),
                title=_text(entry, "title", place, required=False),
                text=_text(entry, "text", place),
                metadata=metadata,
            )
        )
    return tuple(documents)


def _read_queries(path: Path) -> tuple[Query, ...]:
    queries = []
    for place, entry in _entries(path):
        text = _text(entry, "text", place)
        if not text.strip():
            raise UsageError(f"{place}: the question is empty")
        queries.append(Query(id=_text(entry, "_id", place), text=text))
    return tuple(queries)


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a file of JSON lines with their places; ids are unique."""
    first_places: dict[str, str] = {}
    for place, line in _lines(path):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{place} is not valid JSON: {error}") from error
        if not isinstance(entry, dict):
            raise UsageError(f"{place} is no JSON object")
        key = _text(entry, "_id", place)
        if not key.strip() or not key.isprintable():
            raise UsageError(f"{place}: the _id {key!a} is empty or cannot be printed on one line")
        if key in first_places:
            raise UsageError(f"{place} repeats the _id {key!r} of {first_places[key]}")
        first_places[key] = place
        yield place, entry
    if not first_places:
        raise UsageError(f"{path} is empty")


def _text(entry: Mapping[str, Any], key: str, place: str, *, required: bool = True) -> str:
    value = entry.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{place}: {key} is {'missing' if value is None else 'no text'}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{place}: {key} holds half of a surrogate pair") from error
    return value


def _read_judgments(
    path: Path,
    *,
    queries: frozenset[str],
    documents: frozenset[str] | None,
    ordinary: bool,
) -> dict[str, tuple[Judgment, ...]]:
    lines = _lines(path)
    columns = _columns(path, next(lines, None))
    judged: dict[str, list[Judgment]] = defaultdict(list)
    first_places: dict[tuple[str, ...], str] = {}
    for place, line in lines:
        cells = line.split("\t")
        if len(cells) != columns:
            raise UsageError(f"{place}: {len(cells)} cells where the header has {columns}")
        query_id, document_id, score, *family = cells
        key = (query_id, document_id, *family)
        if key in first_places:
            raise UsageError(f"{place} repeats the judgment of {first_places[key]}")
        first_places[key] = place
        if query_id not in queries:
            raise UsageError(f"{place}: no question has the id {query_id!r}; see {QUERIES}")
        if documents is not None and document_id not in documents:
            raise UsageError(f"{place}: no document has the id {document_id!r}; see {CORPUS}")
        judged[query_id].append(
            Judgment(
                document_id=document_id,
                score=_score(score, place),
                family=None if ordinary else (family[0] or None) if family else document_id,
            )
        )
    if not judged:
        raise UsageError(f"{path} holds no judgment below its header")
    return {query_id: tuple(found) for query_id, found in judged.items()}


def _columns(path: Path, header: tuple[str, str] | None) -> int:
    """Return how many columns the header names; it names all or all but the family."""
    if header is None:
        raise UsageError(f"{path} is empty")
    place, line = header
    names = tuple(line.split("\t"))
    if names not in (_COLUMNS[:-1], _COLUMNS):
        raise UsageError(
            f"{place} is no header; it has to be {', '.join(_COLUMNS[:-1])} and, where there are "
            f"families, {_COLUMNS[-1]}, with tabs between"
        )
    return len(names)


def _score(text: str, place: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{place}: the score {text!r} is no whole number") from error


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines that are not blank, each with its place for messages."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"{path}, line {number}", line.rstrip("\r\n")
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
