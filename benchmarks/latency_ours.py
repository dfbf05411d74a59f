"""Our own side of the latency benchmark: stores the corpus as an ingest does, and searches it."""

from sqlalchemy import Engine

from benchmarks.known_vectors import KnownVectors
from benchmarks.large_corpus import LargeCorpus
from benchmarks.latency_peers import RESULTS, Search
from llmwiki.config import RetrievalSettings
from llmwiki.domain import Collection
from llmwiki.ingest.application import apply_document
from llmwiki.providers.clock import SystemClock
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.service import retrieve
from llmwiki.store import collections, embeddings
from llmwiki.store.vector_indexes import refresh_vector_index

FLAT_STEPS = ("dense", "lexical", "identifiers", "fuse")
"""Of a retrieval: what finds candidates, scores all of them in every tier, and reads them."""

DOCUMENTS_AT_ONCE = 50


def build_search(
    engine: Engine, large: LargeCorpus, vectors: KnownVectors, flat: list[float]
) -> Search:
    """Return our search; each adds the milliseconds of its flat steps to the list."""
    return search_of(engine, _store(engine, large, vectors), vectors, flat)


def search_of(
    engine: Engine, collection: Collection, vectors: KnownVectors, flat: list[float]
) -> Search:
    """Return the search of a collection that is there; see ``build_search``."""
    settings = RetrievalSettings(limit=RESULTS)
    parts = Parts(engine=engine, embedder=vectors, clock=SystemClock(), settings=settings)

    def search(question: str) -> list[str]:
        context = retrieve(parts, question, collection=collection.name)
        flat.append(
            sum(event.duration_ms or 0.0 for event in context.events if event.step in FLAT_STEPS)
        )
        return [candidate.chunk.document_path for candidate in context.ranking]

    return search


def _store(engine: Engine, large: LargeCorpus, vectors: KnownVectors) -> Collection:
    """Store the documents as an ingest does, but many in one transaction."""
    with engine.connect() as connection:
        collection = collections.create_collection(
            connection, "benchmark", "benchmark", vectors.identity
        )
        for start in range(0, len(large.documents), DOCUMENTS_AT_ONCE):
            for document in large.documents[start : start + DOCUMENTS_AT_ONCE]:
                known = {
                    hash_: vectors.vectors[text]
                    for hash_, text in document.texts_to_embed().items()
                }
                embeddings.add_embeddings(connection, collection, vectors.identity, known)
                apply_document(connection, collection, document, None)
            connection.commit()
    collections.refresh_statistics(engine)
    refresh_vector_index(engine, collection, exact_below=RetrievalSettings().exact_below)
    return collection
