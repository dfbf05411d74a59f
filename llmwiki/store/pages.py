"""Pages as they are read. page_writing.py writes them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    func,
    select,
    text,
)

from llmwiki.domain import (
    ChunkId,
    Collection,
    CollectionId,
    PageId,
    Statement,
    TopicId,
)
from llmwiki.errors import UnknownNameError
from llmwiki.store.wiki_tables import PageTable, StatementTable

OVERVIEW_SLUG = "overview"

_TITLES = """
SELECT t.title AS now, p.topic_title_at_compile AS compiled
FROM page p JOIN topic t ON t.id = p.topic_id WHERE p.id = :page
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A page as stored, without its statements. ``compiled_at`` is None before its first text."""

    id: PageId
    collection_id: CollectionId
    topic_id: TopicId | None
    kind: str
    slug: str
    title: str
    tldr: str
    tags: tuple[str, ...]
    body: str
    source_count: int
    source_hash: str | None
    recipe_hash: str | None
    generator_kind: str | None
    generator: str | None
    revision: int
    compiled_at: datetime | None
    stale: bool
    stale_reasons: tuple[str, ...]
    stale_since: datetime | None
    retired_at: datetime | None
    attempts: int
    last_error: str | None
    not_before: datetime | None
    quarantined_at: datetime | None
    pinned_at: datetime | None


def find_page(connection: Connection, collection: Collection, slug: str) -> PageRow:
    """Return the page of that slug.

    Raises UnknownNameError that names up to five slugs that begin or end alike.
    """
    query = select(PageTable).where(PageTable.collection_id == collection.id)
    row = connection.execute(query.where(PageTable.slug == slug)).mappings().one_or_none()
    if row is not None:
        return _page(row)
    tail = slug.rsplit("/", 1)[-1]
    alike = connection.scalars(
        select(PageTable.slug)
        .where(
            PageTable.collection_id == collection.id,
            PageTable.retired_at.is_(None),
            PageTable.slug.contains(tail, autoescape=True),
        )
        .order_by(func.length(PageTable.slug), PageTable.slug)
        .limit(5)
    ).all()
    hint = f"; did you mean {', '.join(alike)}?" if alike else "; see `llmwiki page overview`"
    raise UnknownNameError(f"collection {collection.name!r} has no page {slug!r}{hint}")


def find_overview(connection: Connection, collection: Collection) -> PageRow | None:
    """Return the contents page of the collection, None before the first ingest."""
    row = (
        connection.execute(
            select(PageTable).where(
                PageTable.collection_id == collection.id, PageTable.slug == OVERVIEW_SLUG
            )
        )
        .mappings()
        .one_or_none()
    )
    return _page(row) if row else None


def topic_titles(connection: Connection, page_id: PageId) -> tuple[str, str | None]:
    """Return the title of the page's topic now, and the one that the page was compiled for."""
    row = connection.execute(text(_TITLES), {"page": page_id}).one()
    return row.now, row.compiled


def statements_of(connection: Connection, page_id: PageId) -> list[tuple[str, str, Statement]]:
    """Return (role, heading, statement) of the page's current revision in order."""
    rows = connection.execute(
        select(StatementTable)
        .where(StatementTable.page_id == page_id)
        .order_by(StatementTable.position)
    ).mappings()
    return [
        (
            row["role"],
            row["heading"],
            Statement(
                text=row["text"], chunk_ids=tuple(map(ChunkId, row["chunk_ids"])), kind=row["kind"]
            ),
        )
        for row in rows
    ]


def _page(row: RowMapping) -> PageRow:
    values: dict[str, Any] = {name: row[name] for name in PageRow.__slots__}
    return PageRow(
        **values | {"tags": tuple(row["tags"]), "stale_reasons": tuple(row["stale_reasons"])}
    )
