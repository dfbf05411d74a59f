"""Latency and quality of a whole retrieval beside other libraries, on the same data in one run.

    pip install txtai haystack-ai llama-index-core
    pip install llama-index-retrievers-bm25 llama-index-vector-stores-faiss
    python -m benchmarks.latency DATASET… --bundles FOLDER [--chunks 100000] [--queries 200]

The corpus is what ``benchmarks.large_corpus`` makes: the data sets, the history of the bundles,
filler. Every system gets the same chunks with the same headings, cut as `llmwiki ingest` cuts
them, and the same vectors, made before the clock starts: a question costs what searching costs.
We alone embed more, where a question names families of evidence; that is timed. A peer that is not
importable is named as missing. Questions are those of the data sets, drawn evenly; systems take
turns question by question. Prints a Markdown table: nDCG@10 (a document ranks as its best chunk),
milliseconds at the median and at the 95th percentile.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.judged import documents_of, migrated_database, ndcg, relevant_documents
from benchmarks.known_vectors import EMBEDDERS, KnownVectors
from benchmarks.large_corpus import LargeCorpus, chunks_of, gather_corpus
from benchmarks.latency_ours import FLAT_STEPS, build_search
from benchmarks.latency_peers import PEERS, Corpus, Search
from llmwiki.evaluation.corpus import document_path
from llmwiki.evaluation.dataset import Dataset, Query
from llmwiki.evaluation.reading import read_dataset
from llmwiki.ports import Embedder, Vectors
from llmwiki.retrieval.question import check_question

WARMING = 20
"""Questions asked before the clock counts."""

TEXTS_AT_ONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with the documents that answer it."""

    text: str
    relevant: frozenset[str]


def main() -> None:
    """Build every system, ask every question, print the table."""
    arguments = _arguments()
    datasets = [read_dataset(folder) for folder in arguments.datasets]
    bundles = sorted(arguments.bundles.glob("*.bundle")) if arguments.bundles else []
    with tempfile.TemporaryDirectory() as folder:
        large = gather_corpus(datasets, bundles, arguments.chunks, Path(folder))
    questions = _draw(datasets, arguments.queries)
    vectors = _embed(EMBEDDERS[arguments.embedder](), large, questions)
    corpus = _corpus(large, vectors)
    print(
        f"{len(corpus.texts)} chunks: {large.judged} of {', '.join(d.name for d in datasets)}, "
        f"{large.history} of documentation, {large.filler} of recombined sentences; "
        f"{len(questions)} questions; vectors of {vectors.identity.name} "
        f"({vectors.identity.dimension} dimensions), embedding not timed; "
        f"{platform.processor() or platform.machine()}, {platform.python_version()}\n"
    )
    with migrated_database(arguments.database_url) as engine:
        flat: list[float] = []
        systems = {"llmwiki": _timed(lambda: build_search(engine, large, vectors, flat))}
        for name, (modules, build) in PEERS.items():
            if name in arguments.without:
                continue
            missing = [module for module in modules if not _importable(module)]
            if missing:
                print(f"{name}: left out, {', '.join(missing)} cannot be imported")
            else:
                systems[name] = _timed(lambda build=build: build(corpus, vectors.vectors))  # type: ignore[misc]
        _report(systems, questions)
    middle, high = np.percentile(flat[-len(questions) :], [50, 95])
    print(f"\nOf llmwiki's time, {', '.join(FLAT_STEPS)}: {middle:.1f} and {high:.1f} ms.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--bundles", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--without", nargs="*", choices=PEERS, default=[])
    parser.add_argument("--embedder", choices=EMBEDDERS, default="hashing")
    parser.add_argument("--database-url")
    return parser.parse_args()


def _draw(datasets: Sequence[Dataset], count: int) -> list[Asked]:
    """Return so many questions, evenly from the data sets and evenly within each."""
    share = count // len(datasets)
    drawn = []
    for dataset in datasets:
        relevant = relevant_documents(dataset)
        step = max(1, len(dataset.queries) // share)
        queries: Sequence[Query] = dataset.queries[::step][:share]
        drawn += [
            Asked(
                text=check_question(query.text),
                relevant=frozenset(_path(dataset, key) for key in relevant[query.id]),
            )
            for query in queries
        ]
    return drawn


def _path(dataset: Dataset, document_id: str) -> str:
    return f"{dataset.name}/{document_path(document_id)}"


def _embed(embedder: Embedder, large: LargeCorpus, questions: Sequence[Asked]) -> KnownVectors:
    texts = [
        str(chunk.search_text) for document in large.documents for chunk in chunks_of(document)
    ]
    # By length, since a batch is as long as its longest text.
    distinct = sorted({*texts, *(question.text for question in questions)}, key=len)
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(distinct), TEXTS_AT_ONCE):
        batch = distinct[start : start + TEXTS_AT_ONCE]
        vectors |= zip(batch, embedder.embed(batch), strict=True)
    return KnownVectors(embedder=embedder, vectors=vectors)


def _corpus(large: LargeCorpus, vectors: KnownVectors) -> Corpus:
    texts, owners = [], []
    for document in large.documents:
        for chunk in chunks_of(document):
            texts.append(str(chunk.search_text))
            owners.append(document.values.path)
    return Corpus(texts=texts, owners=owners, vectors=vectors.embed(texts))


def _timed(build: Callable[[], Search]) -> tuple[Search, float]:
    started = time.perf_counter()
    return build(), time.perf_counter() - started


def _importable(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def _report(systems: dict[str, tuple[Search, float]], questions: Sequence[Asked]) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    gains: dict[str, list[float]] = {name: [] for name in systems}
    for number, question in enumerate([*questions[:WARMING], *questions]):
        for name, (search, _) in systems.items():
            started = time.perf_counter()
            found = search(question.text)
            elapsed = time.perf_counter() - started
            if number >= WARMING:
                seconds[name].append(elapsed)
                ranking = documents_of(found, {path: path for path in found})
                gains[name].append(ndcg(ranking, question.relevant))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Load average at the end, over 1, 5 and 15 minutes: {load} on {os.cpu_count()} cores.\n")
    print("| system | nDCG@10 | p50 ms | p95 ms | built in s |")
    print("|---|---|---|---|---|")
    for name, (_, built) in systems.items():
        middle, high = np.percentile(seconds[name], [50, 95]) * 1000
        print(f"| {name} | {fmean(gains[name]):.4f} | {middle:.1f} | {high:.1f} | {built:.0f} |")


if __name__ == "__main__":
    main()
