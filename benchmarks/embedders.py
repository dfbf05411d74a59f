"""Compares the offline embedders on a judged data set: quality, speed, memory.

    python -m benchmarks.embedders DATASET…

Each data set is a folder as `llmwiki evaluate` takes it. The texts are cut to chunks as
`llmwiki ingest` cuts them; a document scores as its best chunk does. Prints nDCG@10 of the dense
ranking alone, chunks a second and milliseconds a query, as a Markdown table.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.judged import documents_of, ndcg, relevant_documents
from llmwiki.config import IngestSettings
from llmwiki.evaluation.reading import read_dataset
from llmwiki.ingest.chunking import chunk_document
from llmwiki.parsing.plain import parse_plain
from llmwiki.ports import Embedder
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.providers.minilm import open_minilm

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": open_minilm, "hashing": HashingEmbedder}


def main(folders: list[Path]) -> None:
    """Print a row for each data set and embedder."""
    print("| data set | embedder | nDCG@10 | chunks | chunks/s | ms a query |")
    print("|---|---|---|---|---|---|")
    for folder in folders:
        for name, open_embedder in EMBEDDERS.items():
            print(_row(folder, name, open_embedder()), flush=True)


def _row(folder: Path, name: str, embedder: Embedder) -> str:
    dataset = read_dataset(folder)
    chunks = [
        (document.id, text) for document in dataset.documents for text in _chunks(document.text)
    ]
    relevant = relevant_documents(dataset)
    started = time.perf_counter()
    corpus = embedder.embed([text for _, text in chunks])
    corpus_seconds = time.perf_counter() - started
    started = time.perf_counter()
    vectors = np.vstack([embedder.embed([query.text]) for query in dataset.queries])
    query_seconds = time.perf_counter() - started
    queries = len(dataset.queries)
    owners = dict(enumerate(key for key, _ in chunks))
    gains = [
        ndcg(
            documents_of(np.argsort(-(corpus @ vector), kind="stable"), owners), relevant[query.id]
        )
        for query, vector in zip(dataset.queries, vectors, strict=True)
    ]
    return (
        f"| {folder.name} | {name} | {sum(gains) / len(gains):.3f} | {len(chunks)} "
        f"| {len(chunks) / corpus_seconds:.0f} | {1000 * query_seconds / queries:.1f} |"
    )


def _chunks(document: str) -> list[str]:
    sections = chunk_document(
        parse_plain("document.txt", document), target_tokens=IngestSettings().chunk_tokens
    )
    return [chunk.text for section in sections for chunk in section.chunks]


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
