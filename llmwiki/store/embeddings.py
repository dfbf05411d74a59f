"""Vectors by the hash of what was embedded: which are missing, adding some, dropping the rest."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, literal, select, text
from sqlalchemy.dialects.postgresql import distinct_on, insert

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.ports import Embedder
from llmwiki.store.corpus_tables import ChunkTable, EmbeddingTable
from llmwiki.store.wiki_tables import PageTable

_WITHOUT_VECTOR = """
SELECT count(*) FROM (
    SELECT embedding_hash AS hash FROM chunk
    WHERE collection_id = :collection AND embedding_hash IS NOT NULL
    UNION
    SELECT embedding_hash FROM page
    WHERE collection_id = :collection AND embedding_hash IS NOT NULL
) wanted
WHERE NOT EXISTS (
    SELECT 1 FROM embedding e
    WHERE e.collection_id = :collection AND e.embedder = :embedder AND e.hash = wanted.hash
)
"""


def known_hashes(
    connection: Connection,
    collection: Collection,
    embedder: EmbedderIdentity,
    hashes: Iterable[str],
) -> set[str]:
    """Return those of the hashes that have a vector already."""
    return set(
        connection.scalars(
            select(EmbeddingTable.hash).where(
                EmbeddingTable.collection_id == collection.id,
                EmbeddingTable.embedder == embedder.name,
                EmbeddingTable.hash.in_(list(hashes)),
            )
        )
    )


def add_embeddings(
    connection: Connection,
    collection: Collection,
    embedder: EmbedderIdentity,
    vectors: Mapping[str, npt.NDArray[np.float32]],
) -> None:
    """Store vectors by hash; one that is there already stays."""
    if not vectors:
        return
    connection.execute(
        insert(EmbeddingTable).on_conflict_do_nothing(),
        [
            {
                "collection_id": collection.id,
                "embedder": embedder.name,
                "hash": hash_,
                "vector": vector,
            }
            for hash_, vector in vectors.items()
        ],
    )


def embed_missing(
    engine: Engine, collection: Collection, embedder: Embedder, texts: Mapping[str, str]
) -> int:
    """Embed the texts (by hash) that have no vector yet; return how many those were.

    No transaction is open while the embedder works. Raises what the embedder raises.
    """
    with engine.connect() as connection:
        known = known_hashes(connection, collection, embedder.identity, texts)
    missing = [hash_ for hash_ in texts if hash_ not in known]
    if not missing:
        return 0
    vectors = embedder.embed([texts[hash_] for hash_ in missing])
    with engine.connect() as connection:
        found = dict(zip(missing, vectors, strict=True))
        add_embeddings(connection, collection, embedder.identity, found)
        connection.commit()
    return len(missing)


def chunks_without_vector(
    connection: Connection, collection: Collection, embedder: EmbedderIdentity, *, limit: int
) -> list[tuple[str, str]]:
    """Return (hash, text to embed) of chunks and pages that the embedder has not seen yet."""
    missing = (
        ~select(literal(1))
        .where(
            EmbeddingTable.collection_id == collection.id,
            EmbeddingTable.embedder == embedder.name,
            EmbeddingTable.hash == ChunkTable.embedding_hash,
        )
        .exists()
    )
    rows = connection.execute(
        select(ChunkTable.embedding_hash, ChunkTable.breadcrumb, ChunkTable.text)
        .where(
            ChunkTable.collection_id == collection.id, ChunkTable.parent_id.is_not(None), missing
        )
        .ext(distinct_on(ChunkTable.embedding_hash))
        .limit(limit)
    )
    return [(row.embedding_hash, embedding_text(row.breadcrumb, row.text)) for row in rows]


def pages_without_vector(
    connection: Connection, collection: Collection, embedder: EmbedderIdentity, *, limit: int
) -> list[tuple[str, str]]:
    """Return (hash, text to embed) of compiled pages that the embedder has not seen yet."""
    missing = (
        ~select(literal(1))
        .where(
            EmbeddingTable.collection_id == collection.id,
            EmbeddingTable.embedder == embedder.name,
            EmbeddingTable.hash == PageTable.embedding_hash,
        )
        .exists()
    )
    rows = connection.execute(
        select(PageTable.embedding_hash, PageTable.title, PageTable.tldr, PageTable.tags)
        .where(
            PageTable.collection_id == collection.id,
            PageTable.embedding_hash.is_not(None),
            missing,
        )
        .ext(distinct_on(PageTable.embedding_hash))
        .limit(limit)
    )
    return [
        (row.embedding_hash, page_embedding_text(row.title, row.tldr, row.tags)) for row in rows
    ]


def count_texts_without_vector(
    connection: Connection, collection: Collection, embedder: EmbedderIdentity
) -> int:
    """Return how many chunks and pages, equal ones once, the embedder has not seen yet."""
    count: int = connection.execute(
        text(_WITHOUT_VECTOR), {"collection": collection.id, "embedder": embedder.name}
    ).scalar_one()
    return count


def drop_unused_embeddings(connection: Connection, collection: Collection) -> int:
    """Delete vectors of other embedders and of texts that no chunk or page has; return how many."""
    return connection.execute(
        text(
            """
            DELETE FROM embedding e
            USING collection k
            WHERE k.id = e.collection_id AND k.id = :collection
              AND (e.embedder <> k.embedder OR NOT EXISTS (
                    SELECT 1 FROM chunk c
                    WHERE c.collection_id = k.id AND c.embedding_hash = e.hash
                  ) AND NOT EXISTS (
                    SELECT 1 FROM page p
                    WHERE p.collection_id = k.id AND p.embedding_hash = e.hash
                  ))
            """
        ),
        {"collection": collection.id},
    ).rowcount


def embedding_text(breadcrumb: Iterable[str], text_: str) -> str:
    """Return what is embedded for a chunk: its headings, then its text."""
    return " > ".join(breadcrumb) + "\n" + text_


def page_embedding_text(title: str, tldr: str, tags: Iterable[str]) -> str:
    """Return what is embedded for a page: title, summary and tags together."""
    return "\n".join((title, tldr, ", ".join(tags)))
