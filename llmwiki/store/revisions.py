"""The kept revisions of a page: list them, read one, and return to one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, text

from llmwiki.domain import Collection, PageId
from llmwiki.errors import PageLeasedError, UnknownNameError
from llmwiki.store import anchors, compiled_page, pins
from llmwiki.store.compiled_page import Revision
from llmwiki.store.page_writing import restore_page
from llmwiki.store.pages import PageRow
from llmwiki.store.wiki_tables import PageRevisionTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionSummary:
    """A kept revision without its text."""

    number: int
    compiled_at: datetime
    generator: str
    characters: int
    sources: int
    restored_from: int | None


def list_revisions(connection: Connection, page_id: PageId) -> list[RevisionSummary]:
    """Return the kept revisions of a page, the newest first."""
    content = PageRevisionTable.content
    rows = connection.execute(
        select(
            PageRevisionTable.revision,
            PageRevisionTable.compiled_at,
            content["generator"].astext.label("generator"),
            func.length(content["body"].astext).label("characters"),
            func.jsonb_array_length(content["edges"]).label("sources"),
            content["restored_from"].astext.label("restored_from"),
        )
        .where(PageRevisionTable.page_id == page_id)
        .order_by(PageRevisionTable.revision.desc())
    )
    return [
        RevisionSummary(
            number=row.revision,
            compiled_at=row.compiled_at,
            generator=row.generator,
            characters=row.characters,
            sources=row.sources,
            restored_from=None if row.restored_from is None else int(row.restored_from),
        )
        for row in rows
    ]


def find_revision(connection: Connection, page: PageRow, number: int | None = None) -> Revision:
    """Return a kept revision of the page; without a number the one before the current.

    Raises UnknownNameError that lists those there are.
    """
    kept = connection.scalars(
        select(PageRevisionTable.revision)
        .where(PageRevisionTable.page_id == page.id)
        .order_by(PageRevisionTable.revision)
    ).all()
    if number is None:
        number = max((each for each in kept if each < page.revision), default=None)
    if number not in kept:
        raise UnknownNameError(_missing(page, number, kept))
    row = (
        connection.execute(
            select(PageRevisionTable).where(
                PageRevisionTable.page_id == page.id, PageRevisionTable.revision == number
            )
        )
        .mappings()
        .one()
    )
    return compiled_page.from_json(row["revision"], row["compiled_at"], row["content"])


def require_unleased(connection: Connection, page_id: PageId) -> None:
    """Lock the page's row. Raises PageLeasedError when a drain is at work on the page.

    Neither waited for nor overruled: a lease can last as long as the longest request, and what
    the drain will write may have been paid for already.
    """
    row = connection.execute(
        text(
            "SELECT slug, CASE WHEN lease_until > now() THEN lease_until END AS leased_until "
            "FROM page WHERE id = :page FOR UPDATE"
        ),
        {"page": page_id},
    ).one()
    if row.leased_until is not None:
        raise PageLeasedError(row.slug, row.leased_until)


def restore(
    connection: Connection, collection: Collection, page_id: PageId, revision: Revision
) -> int:
    """Make the revision the current one, under a new number, and pin it; return the number.

    Raises PageLeasedError when a drain is at work on the page.
    """
    require_unleased(connection, page_id)
    number = restore_page(connection, collection, page_id, revision)
    # Its chunks may lie in another file by now.
    anchors.reanchor_pages(connection, collection, page_id=page_id)
    pins.pin(connection, page_id)
    return number


def _missing(page: PageRow, number: int | None, kept: Sequence[int]) -> str:
    if not kept:
        return f"page {page.slug!r} has no revisions"
    there = ", ".join(map(str, kept))
    if number is None:
        return f"page {page.slug!r} has no revision before {page.revision}; there is {there}"
    return (
        f"page {page.slug!r} has no revision {number}; there are {there} (the last ones are kept)"
    )
