"""The libraries that the latency benchmark compares with, each set up as its documentation says.

All of them search by vectors and by words and fuse the two, in memory, over the texts and vectors
that they are given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from llmwiki.ports import Vectors

RESULTS = 20
"""Chunks that each system is asked for, so that ten documents come of them."""

Search = Callable[[str], list[str]]
"""Returns the documents of the chunks found, the best first, as often as found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Chunks with the documents that they belong to."""

    texts: Sequence[str]
    owners: Sequence[str]
    vectors: Vectors
    """Shape (chunks, dimension)."""


Build = Callable[[Corpus, Mapping[str, Vectors]], Search]
"""Takes the corpus, and the vectors of chunks and questions by their text."""


def _txtai(corpus: Corpus, known: Mapping[str, Vectors]) -> Search:
    """Hybrid index: Faiss as txtai chooses it for the size, and its own BM25."""
    embeddings = import_module("txtai").Embeddings(
        method="external",
        transform=lambda texts: np.stack([known[text] for text in texts]),
        hybrid=True,
    )
    embeddings.index((number, text, None) for number, text in enumerate(corpus.texts))

    def search(question: str) -> list[str]:
        return [corpus.owners[int(number)] for number, _ in embeddings.search(question, RESULTS)]

    return search


def _llama_index(corpus: Corpus, known: Mapping[str, Vectors]) -> Search:
    """QueryFusionRetriever by reciprocal rank, over Faiss (exact) and the BM25Retriever."""
    core = import_module("llama_index.core")
    retrievers = import_module("llama_index.core.retrievers")
    faiss = import_module("faiss")
    nodes = [
        import_module("llama_index.core.schema").TextNode(
            id_=str(number), text=text, embedding=vector.tolist()
        )
        for number, (text, vector) in enumerate(zip(corpus.texts, corpus.vectors, strict=True))
    ]
    store = import_module("llama_index.vector_stores.faiss").FaissVectorStore(
        faiss_index=faiss.IndexFlatIP(corpus.vectors.shape[1])
    )
    dense = core.VectorStoreIndex(
        nodes,
        storage_context=core.StorageContext.from_defaults(vector_store=store),
        embed_model=_llama_embedding(known),
    ).as_retriever(similarity_top_k=RESULTS)
    words = import_module("llama_index.retrievers.bm25").BM25Retriever.from_defaults(
        nodes=nodes, similarity_top_k=RESULTS
    )
    both = retrievers.QueryFusionRetriever(
        [dense, words],
        llm=import_module("llama_index.core.llms").MockLLM(),
        mode="reciprocal_rerank",
        num_queries=1,
        similarity_top_k=RESULTS,
        use_async=False,
    )

    def search(question: str) -> list[str]:
        return [corpus.owners[int(found.node.node_id)] for found in both.retrieve(question)]

    return search


def _llama_embedding(known: Mapping[str, Vectors]) -> object:
    base = import_module("llama_index.core.embeddings").BaseEmbedding

    class Known(base):  # type: ignore[misc, valid-type]
        """Looks vectors up."""

        def _get_query_embedding(self, query: str) -> list[float]:
            found: list[float] = known[query].tolist()
            return found

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_query_embedding(text)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return Known()


def _haystack(corpus: Corpus, known: Mapping[str, Vectors]) -> Search:
    """InMemoryDocumentStore with its two retrievers, joined by reciprocal rank."""
    store = import_module("haystack.document_stores.in_memory").InMemoryDocumentStore(
        embedding_similarity_function="dot_product"
    )
    document = import_module("haystack").Document
    store.write_documents(
        [
            document(id=str(number), content=text, embedding=vector.tolist())
            for number, (text, vector) in enumerate(zip(corpus.texts, corpus.vectors, strict=True))
        ]
    )
    retrievers = import_module("haystack.components.retrievers.in_memory")
    words = retrievers.InMemoryBM25Retriever(document_store=store, top_k=RESULTS)
    dense = retrievers.InMemoryEmbeddingRetriever(document_store=store, top_k=RESULTS)
    joiner = import_module("haystack.components.joiners").DocumentJoiner(
        join_mode="reciprocal_rank_fusion", top_k=RESULTS
    )

    def search(question: str) -> list[str]:
        found = [
            words.run(query=question)["documents"],
            dense.run(query_embedding=known[question].tolist())["documents"],
        ]
        return [corpus.owners[int(each.id)] for each in joiner.run(documents=found)["documents"]]

    return search


PEERS: Mapping[str, tuple[Sequence[str], Build]] = {
    "txtai": (("txtai",), _txtai),
    "LlamaIndex": (
        (
            "llama_index.core",
            "llama_index.retrievers.bm25",
            "llama_index.vector_stores.faiss",
            "faiss",
        ),
        _llama_index,
    ),
    "Haystack": (("haystack",), _haystack),
}
"""By name: the modules that it takes, and how it is set up."""
