"""Small datasets and runs over them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from llmwiki.domain import ChunkId
from llmwiki.evaluation.dataset import Dataset, Judgment, Query
from llmwiki.evaluation.retrieved import RankedChunk, Retrieved
from llmwiki.evaluation.running import Answer, Contents, RankedDocument, Run

Rows = Iterable[Mapping[str, Any] | str]

CORPUS = [
    {"_id": "backup", "title": "Backups", "text": "A full backup runs on Sunday."},
    {"_id": "alerts", "title": "Alerts", "text": "A full disk raises an alert by mail."},
    {"_id": "colours", "title": "Colours", "text": "Green means ready, red means broken."},
]
QUERIES = [
    {"_id": "q1", "text": "When does the backup run?"},
    {"_id": "q2", "text": "What happens when a disk is full?"},
]
JUDGMENTS = "query-id\tcorpus-id\tscore\nq1\tbackup\t1\nq2\talerts\t1\nq2\tbackup\t1\n"


class DatasetFolder:
    """Writes the files of a dataset; what is not given is that of the small one above."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __call__(
        self,
        *,
        name: str = "small",
        corpus: Rows | None = CORPUS,
        queries: Rows | None = QUERIES,
        judgments: str | None = JUDGMENTS,
    ) -> Path:
        folder = self._root / name
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            "corpus.jsonl": None if corpus is None else _lines(corpus),
            "queries.jsonl": None if queries is None else _lines(queries),
            "qrels.tsv": judgments,
        }
        for file, content in files.items():
            if content is not None:
                (folder / file).write_text(content, encoding="utf-8", newline="\n")
        return folder


def _lines(rows: Rows) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


@pytest.fixture
def dataset_folder(tmp_path: Path) -> DatasetFolder:
    return DatasetFolder(tmp_path / "datasets")


def make_dataset(
    judgments: Mapping[str, Sequence[tuple[str, int, str | None]]],
    *,
    name: str = "small",
    ordinary: bool = False,
) -> Dataset:
    """Build a dataset from (document, score, family) by the question's id."""
    return Dataset(
        name=name,
        documents=(),
        queries=tuple(Query(id=key, text=f"What of {key}?") for key in judgments),
        judgments={
            key: tuple(
                Judgment(document_id=document, score=score, family=family)
                for document, score, family in rows
            )
            for key, rows in judgments.items()
        },
        left_out=0,
        ordinary=ordinary,
    )


def make_answer(
    ranking: Sequence[str],
    *,
    contexts: Mapping[int, Sequence[str]] | None = None,
    added: Sequence[str] = (),
    retrieved: Retrieved | None = None,
) -> Answer:
    """Build an answer; a context holds the first documents of the ranking where none is given."""
    shown = {size: ranking[:size] for size in (4, 10)} | dict(contexts or {})
    return Answer(
        ranking=tuple(
            RankedDocument(id=document, score=-float(rank)) for rank, document in enumerate(ranking)
        ),
        contexts={
            size: Contents(ranking=tuple(documents), added=tuple(added))
            for size, documents in shown.items()
        },
        retrieved=retrieved or Retrieved(chunks=(), documents=frozenset()),
        milliseconds=1.0,
    )


def make_run(dataset: Dataset, answers: Mapping[str, Answer], name: str = "configured") -> Run:
    return Run(configuration=name, dataset=dataset, answers=answers)


def chunk(number: int, path: str, score: float = 0.0) -> RankedChunk:
    return RankedChunk(chunk_id=ChunkId(number), document_path=path, score=score)
