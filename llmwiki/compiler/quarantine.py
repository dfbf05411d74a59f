"""What a person can do about quarantined pages: try them again, or leave them as they are."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine

from llmwiki.domain import Collection
from llmwiki.errors import UnknownNameError
from llmwiki.store import pins, quarantine
from llmwiki.store.quarantine import QuarantinedPage

_NAMED = 5


def retry(
    engine: Engine, collections: Sequence[Collection], slugs: Sequence[str] | None
) -> list[QuarantinedPage]:
    """Put the pages (None: all of the quarantine) back into the queue, and return them.

    Raises UnknownNameError, having changed nothing, for a slug that is not in quarantine.
    """
    with engine.connect() as connection:
        chosen = _choose(connection, collections, slugs)
        quarantine.retry_pages(connection, [page.page_id for page in chosen])
        connection.commit()
    return chosen


def drop(
    engine: Engine, collections: Sequence[Collection], slugs: Sequence[str]
) -> list[QuarantinedPage]:
    """Pin the pages: each keeps its text, or none, until its sources move. Return them.

    Raises UnknownNameError, having changed nothing, for a slug that is not in quarantine.
    """
    with engine.connect() as connection:
        chosen = _choose(connection, collections, slugs)
        for page in chosen:
            pins.pin(connection, page.page_id)
        connection.commit()
    return chosen


def _choose(
    connection: Connection, collections: Sequence[Collection], slugs: Sequence[str] | None
) -> list[QuarantinedPage]:
    there = quarantine.quarantined_pages(connection, collections)
    if slugs is None:
        return there
    missing = sorted(set(slugs) - {page.slug for page in there})
    if missing:
        named = ", ".join(page.slug for page in there[:_NAMED])
        more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
        known = f"there are {named}{more}" if there else "the quarantine is empty"
        raise UnknownNameError(f"not in quarantine: {', '.join(missing)}; {known}")
    return [page for page in there if page.slug in slugs]
