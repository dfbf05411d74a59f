"""Compares the offline embedders on a judged data set: quality, speed, memory.

    python benchmarks/embedders.py DATASET…

Each data set is a folder with corpus.jsonl (``_id``, ``text``), queries.jsonl (``_id``, ``text``)
and qrels.tsv (query, document, score, after a header line). Documents are cut to passages as
`llmwiki ingest` cuts them; a document scores as its best passage does. Prints nDCG@10 of the
dense ranking alone (Järvelin and Kekäläinen 2002, binary gains), passages a second and
milliseconds a query, as a Markdown table.
"""

import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from llmwiki.config import IngestSettings
from llmwiki.ingest.chunking import chunk_document
from llmwiki.parsing.plain import parse_plain
from llmwiki.ports import Embedder
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.providers.minilm import open_minilm

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"minilm": open_minilm, "hashing": HashingEmbedder}
DEPTH = 10


def main(folders: list[Path]) -> None:
    """Print a row for each data set and embedder."""
    print("| data set | embedder | nDCG@10 | passages | passages/s | ms a query |")
    print("|---|---|---|---|---|---|")
    for folder in folders:
        for name, open_embedder in EMBEDDERS.items():
            print(_row(folder, name, open_embedder()), flush=True)


def _row(folder: Path, name: str, embedder: Embedder) -> str:
    passages = [
        (key, text)
        for key, document in _texts(folder / "corpus.jsonl")
        for text in _passages(document)
    ]
    queries = list(_texts(folder / "queries.jsonl"))
    relevant = _relevant(folder / "qrels.tsv")
    started = time.perf_counter()
    corpus = embedder.embed([text for _, text in passages])
    corpus_seconds = time.perf_counter() - started
    started = time.perf_counter()
    vectors = np.vstack([embedder.embed([text]) for _, text in queries])
    query_seconds = time.perf_counter() - started
    owners = [key for key, _ in passages]
    gains = [
        _ndcg(_ranking(corpus @ vector, owners), relevant[key])
        for (key, _), vector in zip(queries, vectors, strict=True)
        if relevant[key]
    ]
    return (
        f"| {folder.name} | {name} | {sum(gains) / len(gains):.3f} | {len(passages)} "
        f"| {len(passages) / corpus_seconds:.0f} | {1000 * query_seconds / len(queries):.1f} |"
    )


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield entry["_id"], entry["text"]


def _passages(document: str) -> list[str]:
    sections = chunk_document(
        parse_plain("document.txt", document), target_tokens=IngestSettings().chunk_tokens
    )
    return [passage.text for section in sections for passage in section.passages]


def _relevant(path: Path) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            relevant[query].add(document)
    return relevant


def _ranking(scores: np.ndarray, owners: list[str]) -> list[str]:
    """Return documents by their best passage, ties in corpus order."""
    ordered = (owners[index] for index in np.argsort(-scores, kind="stable"))
    return list(dict.fromkeys(ordered))[:DEPTH]


def _ndcg(ranking: list[str], relevant: set[str]) -> float:
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranking) if key in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(relevant))))
    return gain / ideal


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
