"""What the database claims, read with plain SQL: pages, their topics, checksums of all rows."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from llmwiki.domain import Collection
from tests.replay.trees import Saying, fold

KEPT_TABLES = (
    "collection",
    "document",
    "chunk",
    "embedding",
    "topic",
    "topic_chunk",
    "page",
    "page_source",
    "statement",
    "page_link",
    "page_revision",
)
"""The corpus and the wiki: what a night without changes must leave as it is, row by row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPage:
    """A live page with the topic that it stands for."""

    slug: str
    title: str
    folder: str
    sayings: tuple[Saying, ...]
    reasons: frozenset[str]
    revision: int


def observed_pages(connection: Connection, collection: Collection) -> list[ObservedPage]:
    """Return the live pages in the order of the table of contents."""
    rows = connection.execute(text(_PAGES), {"collection": collection.id})
    return [
        ObservedPage(
            slug=row.slug,
            title=row.title,
            folder=row.folder,
            sayings=tuple(
                (fold(heading), fold(body))
                for heading, body in zip(row.headings, row.bodies, strict=True)
            ),
            reasons=frozenset(row.stale_reasons),
            revision=row.revision,
        )
        for row in rows
    ]


_PAGES = """
SELECT p.slug, t.title, t.folder, p.stale_reasons, p.revision,
       array_agg(c.breadcrumb[cardinality(c.breadcrumb)] ORDER BY tc.position) AS headings,
       array_agg(c.text ORDER BY tc.position) AS bodies
FROM page p
JOIN topic t ON t.id = p.topic_id
JOIN topic_chunk tc ON tc.topic_id = t.id
JOIN chunk c ON c.id = tc.chunk_id
WHERE p.collection_id = :collection AND p.retired_at IS NULL AND t.retired_at IS NULL
GROUP BY p.id, t.id
ORDER BY t.position
"""


def revisions(connection: Connection, collection: Collection) -> Mapping[str, int]:
    """Return how often each page was written, retired ones too; the overview is left out."""
    rows = connection.execute(
        text("SELECT slug, revision FROM page WHERE collection_id = :id AND kind = 'page'"),
        {"id": collection.id},
    )
    return {row.slug: row.revision for row in rows}


def refusals(connection: Connection, collection: Collection) -> Mapping[str, str]:
    """Return why the last compile of a page failed, for those that wait for another attempt."""
    rows = connection.execute(
        text(
            """
            SELECT slug, last_error FROM page
            WHERE collection_id = :id AND stale AND retired_at IS NULL AND attempts > 0
            """
        ),
        {"id": collection.id},
    )
    return {row.slug: row.last_error for row in rows}


def checksums(connection: Connection, collection: Collection) -> Mapping[str, str]:
    """Return a checksum of every table of the corpus and the wiki, by table.

    The time of the last ingest is left out: that one may tell that a run took place.
    """
    return {
        table: connection.execute(
            text(
                f"""
                SELECT md5(coalesce(string_agg(line, E'\\n' ORDER BY line), ''))
                FROM (
                    SELECT md5((to_jsonb(t) #- '{{{_OMITTED.get(table, "")}}}')::text) AS line
                    FROM {table} t WHERE {_KEY.get(table, "collection_id")} = :id
                ) lines
                """  # noqa: S608 - composed of constants
            ),
            {"id": collection.id},
        ).scalar_one()
        for table in KEPT_TABLES
    }


_KEY = {"collection": "id"}
_OMITTED = {"collection": "ingested_at"}
