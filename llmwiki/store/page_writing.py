"""Writes a compiled page whole, under the token of its lease, or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    cast,
    delete,
    func,
    insert,
    literal_column,
    update,
)
from sqlalchemy.dialects.postgresql import REGCONFIG

from llmwiki.domain import (
    Collection,
    GeneratorIdentity,
    PageId,
    PageSection,
    SourceChunk,
    Statement,
)
from llmwiki.store.tables import PageRevisionTable, PageSourceTable, PageTable, StatementTable

REVISIONS_KEPT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPage:
    """Everything that a compile writes, beside the edges."""

    title: str
    topic_title: str
    tldr: Statement
    tags: tuple[str, ...]
    sections: tuple[PageSection, ...]
    body: str
    embedding_hash: str
    source_hash: str
    recipe_hash: str
    generator: GeneratorIdentity


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
    fresh; the caller marks it stale again where its sources moved meanwhile.
    """
    values = _compiled_values(collection, page, sources)
    revision = connection.execute(
        update(PageTable)
        .where(PageTable.id == page_id, PageTable.lease_token == lease_token)
        .values(revision=PageTable.revision + 1, **values)
        .returning(PageTable.revision)
    ).scalar_one_or_none()
    if revision is None:
        return False
    _replace_statements(connection, collection, page_id, page)
    connection.execute(delete(PageSourceTable).where(PageSourceTable.page_id == page_id))
    connection.execute(
        insert(PageSourceTable),
        [
            {
                "page_id": page_id,
                "chunk_id": chunk.id,
                "collection_id": collection.id,
                "position": position,
                "source_hash_at_compile": chunk.content_hash,
            }
            for position, chunk in enumerate(sources)
        ],
    )
    _keep_revision(connection, collection, page_id, revision, page)
    return True


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


def _compiled_values(
    collection: Collection, page: CompiledPage, sources: Sequence[SourceChunk]
) -> Mapping[str, Any]:
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
        "source_count": len(sources),
        "source_hash": page.source_hash,
        "recipe_hash": page.recipe_hash,
        "generator_kind": page.generator.kind,
        "generator": page.generator.name,
        "compiled_at": func.now(),
        "stale": False,
        "stale_reasons": [],
        "stale_since": None,
        "lease_until": None,
        "attempts": 0,
        "not_before": None,
        "last_error": None,
    }


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


def _keep_revision(
    connection: Connection,
    collection: Collection,
    page_id: PageId,
    revision: int,
    page: CompiledPage,
) -> None:
    connection.execute(
        insert(PageRevisionTable).values(
            page_id=page_id,
            revision=revision,
            collection_id=collection.id,
            compiled_at=func.now(),
            content=_content(page),
        )
    )
    connection.execute(
        delete(PageRevisionTable).where(
            PageRevisionTable.page_id == page_id,
            PageRevisionTable.revision <= revision - REVISIONS_KEPT,
        )
    )


def _content(page: CompiledPage) -> dict[str, Any]:
    def statement(value: Statement) -> dict[str, Any]:
        return {"text": value.text, "kind": value.kind, "chunk_ids": list(value.chunk_ids)}

    return {
        "title": page.title,
        "tldr": statement(page.tldr),
        "tags": list(page.tags),
        "generator": page.generator.name,
        "recipe_hash": page.recipe_hash,
        "source_hash": page.source_hash,
        "sections": [
            {"heading": section.heading, "statements": list(map(statement, section.statements))}
            for section in page.sections
        ],
    }
