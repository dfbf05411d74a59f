"""What must hold at every moment, read from one snapshot of the database."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, select, text

from llmwiki.domain import Collection
from llmwiki.store.page_writing import page_search_vector
from llmwiki.store.wiki_tables import PageTable
from llmwiki.text.hashing import bag_hash

_PAGES = """
SELECT p.slug, p.title, p.tldr, p.tags, p.body, p.revision, p.source_count, p.source_hash,
       p.recipe_hash, p.generator, p.compiled_at, r.content,
       (SELECT coalesce(json_agg(json_build_array(s.role, s.heading, s.kind, s.text,
               s.chunk_ids) ORDER BY s.position), '[]')
        FROM statement s WHERE s.page_id = p.id) AS statements,
       (SELECT coalesce(array_agg(e.source_hash_at_compile), '{}')
        FROM page_source e WHERE e.page_id = p.id) AS edges,
       EXISTS (SELECT 1 FROM embedding v
               WHERE v.collection_id = p.collection_id AND v.hash = p.embedding_hash) AS embedded
FROM page p LEFT JOIN page_revision r ON r.page_id = p.id AND r.revision = p.revision
WHERE p.kind = 'page'
ORDER BY p.id
"""

_TWICE = """
SELECT p.slug, r.content->>'source_hash', r.content->>'recipe_hash', count(*)
FROM page_revision r JOIN page p ON p.id = r.page_id
WHERE p.kind = 'page'
GROUP BY 1, 2, 3 HAVING count(*) > 1
"""

_CALLS = """
SELECT (SELECT count(*) FROM call WHERE budget = 'chat'),
       (SELECT coalesce(sum(used), 0) FROM budget_day WHERE budget = 'chat'),
       (SELECT coalesce(sum(used), 0) FROM budget_day WHERE budget = 'chat/compile'),
       (SELECT count(*) FROM call WHERE budget = 'chat' AND settled_at IS NULL)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The ledger, read three ways, and the calls whose outcome nobody knows."""

    rows: int
    used: int
    used_by_night: int
    unsettled: int


def count_calls(engine: Engine) -> Calls:
    """Read the ledger of all days."""
    with engine.connect() as connection:
        rows, used, by_night, unsettled = connection.execute(text(_CALLS)).one()
    return Calls(rows=rows, used=used, used_by_night=by_night, unsettled=unsettled)


def broken_pages(engine: Engine, collection: Collection) -> list[str]:
    """Return what is wrong with pages: parts that are of another revision than the page."""
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        faults = [
            f"{row['slug']}: {fault}"
            for row in connection.execute(text(_PAGES)).mappings()
            for fault in _faults(row)
        ]
        return [*faults, *_outdated_vectors(connection, collection)]


def compiled_twice(engine: Engine) -> list[str]:
    """Return the pages with two revisions from the same sources by the same recipe."""
    with engine.connect() as connection:
        return [f"{row[0]}: {row[3]} times" for row in connection.execute(text(_TWICE))]


def records_by_status(engine: Engine) -> Counter[str]:
    """Count the compile records."""
    query = "SELECT payload->>'status', count(*) FROM record WHERE kind = 'compile' GROUP BY 1"
    with engine.connect() as connection:
        return Counter({row[0]: row[1] for row in connection.execute(text(query))})


def _faults(row: Mapping[Any, Any]) -> list[str]:
    if row["compiled_at"] is None:
        empty = not row["statements"] and not row["edges"] and not row["body"]
        return [] if empty and row["revision"] == 0 else ["parts of a page without a text"]
    if row["content"] is None:
        return ["its revision is missing"]
    content = row["content"]
    expected = {
        "statements": _statements(content),
        "title": content["title"],
        "tldr": content["tldr"]["text"],
        "tags": content["tags"],
        "source_hash": content["source_hash"],
        "recipe_hash": content["recipe_hash"],
        "generator": content["generator"],
        "body": content["body"],
    }
    faults = [f"{name} is of another revision" for name in expected if row[name] != expected[name]]
    if row["source_hash"] != bag_hash(row["edges"]) or row["source_count"] != len(row["edges"]):
        faults.append("its edges are of another revision")
    if not row["embedded"]:
        faults.append("it has no vector")
    return faults


def _statements(content: Mapping[str, Any]) -> list[list[Any]]:
    def listed(role: str, heading: str, value: Mapping[str, Any]) -> list[Any]:
        return [role, heading, value["kind"], value["text"], value["chunk_ids"]]

    body = [
        listed("body", section["heading"], statement)
        for section in content["sections"]
        for statement in section["statements"]
    ]
    return [listed("tldr", "", content["tldr"]), *body]


def _outdated_vectors(connection: Connection, collection: Collection) -> list[str]:
    rows = connection.execute(
        select(
            PageTable.slug,
            PageTable.title,
            PageTable.tldr,
            PageTable.tags,
            PageTable.body,
            PageTable.search_vector,
        ).where(PageTable.kind == "page", PageTable.compiled_at.is_not(None))
    ).all()
    return [
        f"{row.slug}: its search vector is of another revision"
        for row in rows
        if connection.execute(
            select(page_search_vector(collection, row.title, row.tldr, row.tags, row.body))
        ).scalar_one()
        != row.search_vector
    ]
