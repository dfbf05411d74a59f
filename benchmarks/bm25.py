"""Compares the search by words with bm25s on judged data sets, over the same chunks.

    pip install bm25s PyStemmer
    python -m benchmarks.bm25 DATASET… [--database-url URL]

Each data set is a folder as `llmwiki evaluate` takes it. Documents are ingested as ever, and bm25s
gets the chunks that came of it, with the headings that our lexemes are made of too; it uses its
defaults, the English Snowball stemmer and its English stop words. A document ranks as its best
chunk does. Prints nDCG@10 as a Markdown table.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import fmean

import numpy as np
from sqlalchemy import Engine, text

from benchmarks.judged import documents_of, migrated_database, ndcg, relevant_documents
from llmwiki.config import IngestSettings
from llmwiki.domain import ChunkId, Collection
from llmwiki.evaluation.corpus import LoadedCorpus, load_corpus
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.reading import read_dataset
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.tiers import lexical_tier
from llmwiki.store.embeddings import embedding_text
from llmwiki.store.word_statistics import read_extents

CHUNKS = 400
"""Ranked for each question, of which ten documents are kept."""

Search = Callable[[str], Sequence[ChunkId]]


def main() -> None:
    """Print a row for each data set, and the mean."""
    parser = argparse.ArgumentParser()
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--database-url")
    arguments = parser.parse_args()
    print("| data set | chunks | bm25s | in PostgreSQL | difference |")
    print("|---|---|---|---|---|")
    rows = []
    with migrated_database(arguments.database_url) as engine:
        for folder in arguments.datasets:
            dataset = read_dataset(folder)
            corpus = load_corpus(engine, HashingEmbedder(), IngestSettings(), dataset)
            theirs, ours, chunks = _compare(engine, dataset, corpus)
            rows.append((theirs, ours))
            print(_row(dataset.name, str(chunks), theirs, ours), flush=True)
    print(_row("mean", "", fmean(row[0] for row in rows), fmean(row[1] for row in rows)))


def _row(name: str, chunks: str, theirs: float, ours: float) -> str:
    return f"| {name} | {chunks} | {theirs:.4f} | {ours:.4f} | {ours - theirs:+.4f} |"


def _compare(engine: Engine, dataset: Dataset, corpus: LoadedCorpus) -> tuple[float, float, int]:
    """Return nDCG@10 of bm25s and of ours, and the number of chunks."""
    chunks = _chunks(engine, corpus.collection)
    owners = {key: corpus.ids[path] for key, (path, _) in chunks.items()}
    texts = {key: text_ for key, (_, text_) in chunks.items()}
    theirs = _mean(dataset, owners, _bm25s(texts))
    ours = _mean(dataset, owners, _ours(engine, corpus.collection))
    return theirs, ours, len(chunks)


def _mean(dataset: Dataset, owners: Mapping[ChunkId, str], search: Search) -> float:
    relevant = relevant_documents(dataset)
    return fmean(
        ndcg(documents_of(search(query.text), owners), relevant[query.id])
        for query in dataset.queries
    )


def _chunks(engine: Engine, collection: Collection) -> dict[ChunkId, tuple[str, str]]:
    statement = """
        SELECT c.id, d.path, c.breadcrumb, c.text FROM chunk c JOIN document d ON d.id = document_id
        WHERE c.collection_id = :id AND c.parent_id IS NOT NULL ORDER BY c.id
    """
    with engine.connect() as connection:
        rows = connection.execute(text(statement), {"id": collection.id})
        return {row.id: (row.path, embedding_text(row.breadcrumb, row.text)) for row in rows}


def _ours(engine: Engine, collection: Collection) -> Search:
    def search(question: str) -> list[ChunkId]:
        with engine.connect() as connection:
            extents = read_extents(connection, [collection])
            tier = lexical_tier(connection, [collection], extents, question)
            found = [] if isinstance(tier, str) else tier.find(connection, CHUNKS)
        return [chunk_id for chunk_id, _ in found]

    return search


def _bm25s(texts: Mapping[ChunkId, str]) -> Search:
    bm25s = import_module("bm25s")
    stemmer = import_module("Stemmer").Stemmer("english")
    keys = list(texts)
    index = bm25s.BM25()
    tokens = bm25s.tokenize(list(texts.values()), stemmer=stemmer, show_progress=False)
    index.index(tokens, show_progress=False)

    def search(question: str) -> list[ChunkId]:
        [asked] = bm25s.tokenize([question], stemmer=stemmer, return_ids=False, show_progress=False)
        scores = index.get_scores(asked) if asked else np.zeros(len(keys))
        order = np.argsort(-scores, kind="stable")[:CHUNKS]
        return [keys[place] for place in order if scores[place] > 0]

    return search


if __name__ == "__main__":
    main()
