"""Changes a collection over to another embedder, without a moment of two vector spaces mixed.

Vectors are kept by embedder, so the new ones gather beside the old while the collection goes on
as it was. Only when none is missing is the collection switched, in one transaction. A run that
breaks off loses no vector: the next one embeds what is still missing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog
from sqlalchemy import Connection, Engine

from llmwiki.config import RetrievalSettings
from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import ConfigurationError
from llmwiki.ingest.calibration import calibrate
from llmwiki.ports import Embedder
from llmwiki.store import collections, embeddings
from llmwiki.store.vector_indexes import refresh_vector_index

log = structlog.get_logger()

TEXTS_PER_BATCH = 256

EXACT_BELOW = RetrievalSettings().exact_below

Progress = Callable[[str, int, int], None]
"""Called with the collection's name, the texts embedded so far, and the number to embed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport:
    """What a change of embedder did."""

    before: EmbedderIdentity
    now: EmbedderIdentity
    embedded: int
    dropped: int
    """Vectors of the old embedder, and of texts that are gone."""


def reembed_collection(
    engine: Engine,
    embedder: Embedder,
    collection: Collection,
    *,
    exact_below: int = EXACT_BELOW,
    progress: Progress = lambda _name, _done, _total: None,
) -> ReembedReport:
    """Embed every chunk and page that the embedder has not seen, then switch the collection.

    Raises ConfigurationError when the new vector space cannot be told from the old one, and
    what the embedder raises; the collection then still is what it was.
    """
    identity = embedder.identity
    _refuse_same_name(collection, identity)
    with engine.connect() as connection:
        total = embeddings.count_texts_without_vector(connection, collection, identity)
    embedded = 0
    while True:
        with engine.connect() as connection:
            texts = _missing(connection, collection, identity)
            if not texts:
                collections.set_embedder(connection, collection, identity)
                dropped = embeddings.drop_unused_embeddings(connection, collection)
                connection.commit()
                break
        embedded += embeddings.embed_missing(engine, collection, embedder, texts)
        progress(collection.name, embedded, max(total, embedded))
    renewed = replace(collection, embedder=identity)
    refresh_vector_index(engine, renewed, exact_below=exact_below)
    calibrate(engine, embedder, renewed)
    log.info("reembed.switched", collection=collection.name, embedder=identity.name)
    return ReembedReport(
        before=collection.embedder, now=identity, embedded=embedded, dropped=dropped
    )


def _refuse_same_name(collection: Collection, identity: EmbedderIdentity) -> None:
    before = collection.embedder
    if before.name == identity.name and before.dimension != identity.dimension:
        raise ConfigurationError(
            f"{identity.name} gives {identity.dimension} dimensions now and gave "
            f"{before.dimension} before; vectors are told apart by the embedder's name, so change "
            "over to another embedder first"
        )


def _missing(
    connection: Connection, collection: Collection, identity: EmbedderIdentity
) -> dict[str, str]:
    """Return a batch of texts by hash: chunks first, then pages, then nothing."""
    chunks = embeddings.chunks_without_vector(
        connection, collection, identity, limit=TEXTS_PER_BATCH
    )
    return dict(
        chunks
        or embeddings.pages_without_vector(connection, collection, identity, limit=TEXTS_PER_BATCH)
    )
