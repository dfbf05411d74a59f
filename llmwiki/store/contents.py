"""The rows that the overview keeps: a page for each topic, the contents page, the links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from llmwiki.domain import Collection, PageId, TopicId
from llmwiki.store.page_writing import page_search_vector
from llmwiki.store.pages import OVERVIEW_SLUG
from llmwiki.store.wiki_tables import PageLinkTable, PageTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a table of contents has a text, and how much of that is out of date."""

    topics: int
    compiled: int
    stale: int
    """Compiled, and served with their last text although their sources moved."""
    never_compiled: int


def add_pages(
    connection: Connection, collection: Collection, topics: Sequence[tuple[TopicId, str, str]]
) -> None:
    """Queue a page for each new topic (id, key, title): stale from its first moment."""
    if topics:
        connection.execute(
            insert(PageTable).values(
                stale=True, stale_since=text("now()"), stale_reasons=["never-compiled"]
            ),
            [
                {
                    "collection_id": collection.id,
                    "topic_id": topic_id,
                    "kind": "page",
                    "slug": key,
                    "title": title,
                }
                for topic_id, key, title in topics
            ],
        )


def retire_pages(connection: Connection, topic_ids: Iterable[TopicId]) -> None:
    """Take the pages of these topics out of service; they are kept."""
    ids = list(topic_ids)
    if ids:
        connection.execute(
            update(PageTable)
            .where(PageTable.topic_id.in_(ids))
            .values(retired_at=text("now()"), stale=False, stale_since=None, stale_reasons=[])
        )


def revive_pages(connection: Connection, topic_ids: Iterable[TopicId]) -> None:
    """Bring pages back; the next sweep tells what of them is stale."""
    ids = list(topic_ids)
    if ids:
        connection.execute(
            update(PageTable)
            .where(PageTable.topic_id.in_(ids), PageTable.retired_at.is_not(None))
            .values(retired_at=None)
        )


def save_overview(
    connection: Connection,
    collection: Collection,
    *,
    title: str,
    summary: str,
    body: str,
    embedding_hash: str,
) -> tuple[PageId, bool]:
    """Write the overview page; return its id and whether it changed."""
    values = {
        "title": title,
        "tldr": summary,
        "body": body,
        "embedding_hash": embedding_hash,
        "search_vector": page_search_vector(collection, title, summary, [], body),
        "compiled_at": text("now()"),
    }
    statement = upsert(PageTable).values(
        collection_id=collection.id, kind="overview", slug=OVERVIEW_SLUG, revision=1, **values
    )
    statement = statement.on_conflict_do_update(
        index_elements=[PageTable.collection_id, PageTable.slug],
        set_={**values, "revision": PageTable.revision + 1},
        where=(PageTable.body != body) | (PageTable.title != title) | (PageTable.tldr != summary),
    )
    changed = connection.execute(statement.returning(PageTable.id)).scalar_one_or_none()
    if changed is not None:
        return PageId(changed), True
    known = connection.execute(
        text("SELECT id FROM page WHERE collection_id = :collection AND slug = :slug"),
        {"collection": collection.id, "slug": OVERVIEW_SLUG},
    ).scalar_one()
    return PageId(known), False


def coverage(connection: Connection, collection: Collection) -> Coverage:
    """Count the live topics of the collection by the state of their pages."""
    row = connection.execute(
        text(
            """
            SELECT count(*) AS topics,
                   count(compiled_at) AS compiled,
                   count(*) FILTER (WHERE stale AND compiled_at IS NOT NULL) AS stale,
                   count(*) FILTER (WHERE compiled_at IS NULL) AS never_compiled
            FROM page
            WHERE collection_id = :collection AND kind = 'page' AND retired_at IS NULL
            """
        ),
        {"collection": collection.id},
    ).one()
    return Coverage(**row._mapping)  # noqa: SLF001 - SQLAlchemy's public accessor


def relink(connection: Connection, collection: Collection, *, siblings: int) -> None:
    """Derive the links anew: contents to every page, and each page to its nearest siblings.

    A sibling is a topic of the same folder; ``siblings`` bounds how many on each side.
    """
    connection.execute(delete(PageLinkTable).where(PageLinkTable.collection_id == collection.id))
    connection.execute(
        text(_LINKS),
        {"collection": collection.id, "overview": OVERVIEW_SLUG, "siblings": siblings},
    )


_LINKS = """
WITH live AS (
    SELECT p.id, t.folder, t.position,
           row_number() OVER (PARTITION BY t.folder ORDER BY t.position) AS place
    FROM page p JOIN topic t ON t.id = p.topic_id
    WHERE p.collection_id = :collection AND p.retired_at IS NULL
)
INSERT INTO page_link (page_id, target_page_id, collection_id, kind, position)
SELECT o.id, live.id, :collection, 'contents', live.position
FROM page o CROSS JOIN live
WHERE o.collection_id = :collection AND o.slug = :overview AND o.kind = 'overview'
UNION ALL
SELECT a.id, b.id, :collection, 'sibling', b.position
FROM live a JOIN live b
  ON b.folder = a.folder AND b.id <> a.id AND abs(b.place - a.place) <= :siblings
"""
