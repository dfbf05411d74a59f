"""Writes a compiled page whole, under the token of its lease, or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from sqlalchemy import ColumnElement, Connection, cast, delete, func, insert, literal_column, update
from sqlalchemy.dialects.postgresql import REGCONFIG

from llmwiki.domain import Collection, PageId, SourceChunk
from llmwiki.store import compiled_page
from llmwiki.store.compiled_page import CompiledPage, Edge, Revision
from llmwiki.store.wiki_tables import PageRevisionTable, PageSourceTable, PageTable, StatementTable

REVISIONS_KEPT = 5


def write_page(
    connection: Connection,
    collection: Collection,
    page_id: PageId,
    lease_token: int,
    page: CompiledPage,
    sources: Sequence[SourceChunk],
) -> bool:
    """Replace the page, its statements and edges, and keep the revision; all or nothing.

    Returns False, having written nothing, when the lease is no longer ours. The page counts as
    fresh, and a pin ends; the caller marks it stale again where its sources moved meanwhile.
    """
    edges = tuple(Edge(chunk_id=chunk.id, content_hash=chunk.content_hash) for chunk in sources)
    row = connection.execute(
        update(PageTable)
        .where(PageTable.id == page_id, PageTable.lease_token == lease_token)
        .values(
            revision=PageTable.revision + 1,
            compiled_at=func.now(),
            **_page_values(collection, page, edges),
        )
        .returning(PageTable.revision, PageTable.compiled_at)
    ).one_or_none()
    if row is None:
        return False
    revision = Revision(
        number=row.revision,
        compiled_at=row.compiled_at,
        page=page,
        edges=edges,
        restored_from=None,
    )
    _replace_parts(connection, collection, page_id, revision)
    return True


def restore_page(
    connection: Connection, collection: Collection, page_id: PageId, old: Revision
) -> int:
    """Make an old revision the current one under a new number, which is returned.

    For a caller that holds the lock of the page's row. The text keeps the time of its compile.
    """
    number = connection.execute(
        update(PageTable)
        .where(PageTable.id == page_id)
        .values(
            revision=PageTable.revision + 1,
            compiled_at=old.compiled_at,
            **_page_values(collection, old.page, old.edges),
        )
        .returning(PageTable.revision)
    ).scalar_one()
    revision = replace(old, number=number, restored_from=old.restored_from or old.number)
    _replace_parts(connection, collection, page_id, revision)
    return number


def page_search_vector(
    collection: Collection, title: str, tldr: str, tags: Sequence[str], body: str
) -> ColumnElement[Any]:
    """Return the weighted lexemes of a page; the application fills the column, no trigger does."""
    config = cast(collection.text_search_config, REGCONFIG)
    # A tsvector holds one megabyte at most; what lies beyond this much text is not indexed.
    parts = (("A", title), ("B", tldr), ("B", " ".join(tags)), ("D", body[:200_000]))
    vectors = [
        func.setweight(func.to_tsvector(config, part), literal_column(f"'{weight}'"))
        for weight, part in parts
    ]
    return reduce(lambda left, right: left.op("||")(right), vectors)


def _page_values(
    collection: Collection, page: CompiledPage, edges: Sequence[Edge]
) -> Mapping[str, Any]:
    """Return the columns of a page that is up to date, out of the queue and free."""
    return {
        "title": page.title,
        "topic_title_at_compile": page.topic_title,
        "tldr": page.tldr.text,
        "tags": list(page.tags),
        "body": page.body,
        "search_vector": page_search_vector(
            collection, page.title, page.tldr.text, page.tags, page.body
        ),
        "embedding_hash": page.embedding_hash,
        "source_count": len(edges),
        "source_hash": page.source_hash,
        "recipe_hash": page.recipe_hash,
        "generator_kind": page.generator.kind,
        "generator": page.generator.name,
        "stale": False,
        "stale_reasons": [],
        "stale_since": None,
        "lease_until": None,
        "attempts": 0,
        "not_before": None,
        "last_error": None,
        "quarantined_at": None,
        "quarantined_edges": None,
        "pinned_at": None,
        "pinned_edges": None,
    }


def _replace_parts(
    connection: Connection, collection: Collection, page_id: PageId, revision: Revision
) -> None:
    _replace_statements(connection, collection, page_id, revision.page)
    _replace_edges(connection, collection, page_id, revision.edges)
    connection.execute(
        insert(PageRevisionTable).values(
            page_id=page_id,
            revision=revision.number,
            collection_id=collection.id,
            compiled_at=revision.compiled_at,
            content=compiled_page.to_json(revision),
        )
    )
    connection.execute(
        delete(PageRevisionTable).where(
            PageRevisionTable.page_id == page_id,
            PageRevisionTable.revision <= revision.number - REVISIONS_KEPT,
        )
    )


def _replace_statements(
    connection: Connection, collection: Collection, page_id: PageId, page: CompiledPage
) -> None:
    connection.execute(delete(StatementTable).where(StatementTable.page_id == page_id))
    rows = [("tldr", 0, "", page.tldr)] + [
        ("body", number, section.heading, statement)
        for number, section in enumerate(page.sections, start=1)
        for statement in section.statements
    ]
    connection.execute(
        insert(StatementTable),
        [
            {
                "page_id": page_id,
                "collection_id": collection.id,
                "position": position,
                "role": role,
                "section_position": number,
                "heading": heading,
                "kind": statement.kind,
                "text": statement.text,
                "chunk_ids": list(statement.chunk_ids),
            }
            for position, (role, number, heading, statement) in enumerate(rows)
        ],
    )


def _replace_edges(
    connection: Connection, collection: Collection, page_id: PageId, edges: Sequence[Edge]
) -> None:
    connection.execute(delete(PageSourceTable).where(PageSourceTable.page_id == page_id))
    rows = [
        {
            "page_id": page_id,
            "chunk_id": edge.chunk_id,
            "collection_id": collection.id,
            "position": position,
            "source_hash_at_compile": edge.content_hash,
        }
        for position, edge in enumerate(edges)
    ]
    if rows:
        connection.execute(insert(PageSourceTable), rows)
