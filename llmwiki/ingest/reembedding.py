"""Changes a collection over to another embedder, without a moment of two vector spaces mixed.

Vectors are kept by embedder, so the new ones gather beside the old while the collection goes on
as it was. Only when none is missing is the collection switched, in one transaction. A run that
breaks off loses no vector: the next one embeds what is still missing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection, Engine, text

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import ConfigurationError
from llmwiki.ports import Embedder
from llmwiki.store import collections, embeddings

log = structlog.get_logger()

TEXTS_PER_BATCH = 256

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
    progress: Progress = lambda _name, _done, _total: None,
) -> ReembedReport:
    """Embed every passage and page that the embedder has not seen, then switch the collection.

    Raises ConfigurationError when the new vector space cannot be told from the old one, and
    what the embedder raises; the collection then still is what it was.
    """
    identity = embedder.identity
    _refuse_same_name(collection, identity)
    total = _count_missing(engine, collection, identity)
    embedded = 0
    while True:
        embedded += _embed_all(engine, embedder, collection, progress, embedded, total)
        dropped = _switch(engine, collection, identity)
        if dropped is not None:
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


def _embed_all(  # noqa: PLR0913 - a step of the loop above, with its counters
    engine: Engine,
    embedder: Embedder,
    collection: Collection,
    progress: Progress,
    done: int,
    total: int,
) -> int:
    """Embed batch by batch until nothing is missing; each batch is committed."""
    embedded = 0
    while texts := _next_texts(engine, collection, embedder.identity):
        embedded += embeddings.embed_missing(engine, collection, embedder, texts)
        progress(collection.name, done + embedded, max(total, done + embedded))
    return embedded


def _next_texts(
    engine: Engine, collection: Collection, identity: EmbedderIdentity
) -> dict[str, str]:
    with engine.connect() as connection:
        return _missing(connection, collection, identity, TEXTS_PER_BATCH)


def _missing(
    connection: Connection, collection: Collection, identity: EmbedderIdentity, limit: int
) -> dict[str, str]:
    passages = embeddings.passages_without_vector(connection, collection, identity, limit=limit)
    return dict(
        passages or embeddings.pages_without_vector(connection, collection, identity, limit=limit)
    )


def _switch(engine: Engine, collection: Collection, identity: EmbedderIdentity) -> int | None:
    """Switch the collection where no vector is missing; return how many old ones were dropped.

    An ingest or a compile may have added texts since the last batch, so the question is asked
    again with the writers of chunks and pages kept out; None means that there is more to embed.
    """
    with engine.connect() as connection:
        connection.execute(text("LOCK TABLE chunk, page IN SHARE ROW EXCLUSIVE MODE"))
        if _missing(connection, collection, identity, 1):
            return None
        collections.set_embedder(connection, collection, identity)
        dropped = embeddings.drop_unused_embeddings(connection, collection)
        connection.commit()
    log.info("reembed.switched", collection=collection.name, embedder=identity.name)
    return dropped
