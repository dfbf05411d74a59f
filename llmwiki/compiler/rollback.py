"""Returns a page to an earlier revision: embeds where needed, then writes in one transaction."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine

from llmwiki.domain import Collection
from llmwiki.errors import UsageError
from llmwiki.ports import Embedder
from llmwiki.store import embeddings, revisions
from llmwiki.store.compiled_page import Revision
from llmwiki.store.embeddings import page_embedding_text
from llmwiki.store.pages import PageRow, find_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What a rollback did, or would do."""

    slug: str
    restored: int
    """The revision whose text is the page's now."""
    revision: int | None
    """The number that it has as the current one; None where nothing was written."""
    replaced: int
    compiled_at: datetime
    generator: str
    embedded: int


def roll_back(
    engine: Engine,
    collection: Collection,
    embedder: Embedder,
    slug: str,
    number: int | None = None,
    *,
    write: bool = True,
) -> Rollback:
    """Make an earlier revision of a page the current one, pinned until its sources move.

    Without a number the one before the current. Raises UnknownNameError for a page or a revision
    that there is not, UsageError for a page that cannot be rolled back, PageLeasedError while a
    drain compiles it, and what the embedder raises where the revision's vector is gone.
    """
    with engine.connect() as connection:
        page, old = _choose(connection, collection, slug, number)
    embedded, revision = 0, None
    if write:
        text = page_embedding_text(old.page.title, old.page.tldr.text, old.page.tags)
        embedded = embeddings.embed_missing(
            engine, collection, embedder, {old.page.embedding_hash: text}
        )
        with engine.connect() as connection:
            revision = revisions.restore(connection, collection, page.id, old)
            connection.commit()
    return Rollback(
        slug=slug,
        restored=old.number,
        revision=revision,
        replaced=page.revision,
        compiled_at=old.compiled_at,
        generator=old.page.generator.name,
        embedded=embedded,
    )


def _choose(
    connection: Connection, collection: Collection, slug: str, number: int | None
) -> tuple[PageRow, Revision]:
    page = find_page(connection, collection, slug)
    if page.kind == "overview":
        raise UsageError("the overview is derived from the documents; it has no revisions")
    if page.retired_at is not None:
        raise UsageError(f"page {slug!r} is retired: no topic is left that it could stand for")
    revision = revisions.find_revision(connection, page, number)
    revisions.require_unleased(connection, page.id)
    return page, revision
