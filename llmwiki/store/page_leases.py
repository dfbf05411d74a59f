"""What a page's lease allows: to keep it, give it up, or take the page out of the queue.

Each statement carries the token of the lease, so a worker that lost it changes nothing.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, text

from llmwiki.domain import PageId, StaleReason
from llmwiki.store.queue import QueuedPage

_RENEW = """
UPDATE page SET lease_until = now() + :lease
FROM unnest(CAST(:pages AS bigint[]), CAST(:tokens AS bigint[])) AS held(id, token)
WHERE page.id = held.id AND page.lease_token = held.token
  AND page.stale AND page.retired_at IS NULL
RETURNING page.id
"""


def renew(connection: Connection, pages: Sequence[QueuedPage], *, lease: timedelta) -> set[PageId]:
    """Begin the leases anew; return the pages that are still ours and still need a compile."""
    held = {
        "pages": [page.page_id for page in pages],
        "tokens": [page.lease_token for page in pages],
        "lease": lease,
    }
    return set(map(PageId, connection.scalars(text(_RENEW), held)))


def release(connection: Connection, pages: Sequence[QueuedPage]) -> None:
    """Give up leases without counting an attempt."""
    _for_each(
        connection,
        "UPDATE page SET lease_until = NULL WHERE id = :page AND lease_token = :token",
        pages,
    )


def clear_stale(connection: Connection, pages: Sequence[QueuedPage]) -> None:
    """End the leases of pages whose sources are again what they were compiled from."""
    _for_each(
        connection,
        """
        UPDATE page
        SET stale = false, stale_since = NULL, stale_reasons = '{}', lease_until = NULL,
            attempts = 0, not_before = NULL, last_error = NULL
        WHERE id = :page AND lease_token = :token
        """,
        pages,
    )


def note_failure(
    connection: Connection,
    page: QueuedPage,
    error: str,
    *,
    retry_after: timedelta,
    max_attempts: int,
) -> bool:
    """Count a failed attempt: the page keeps its text, waits, and after enough is quarantined.

    Returns False, having changed nothing, when the lease is no longer ours.
    """
    counted = connection.execute(
        text(
            """
            UPDATE page
            SET attempts = attempts + 1, last_error = :error, lease_until = NULL,
                not_before = now() + :retry_after,
                quarantined_at = CASE WHEN attempts + 1 >= :max_attempts THEN now() END
            WHERE id = :page AND lease_token = :token
            """
        ),
        {
            "page": page.page_id,
            "token": page.lease_token,
            "error": error[:2000],
            "retry_after": retry_after,
            "max_attempts": max_attempts,
        },
    )
    return counted.rowcount == 1


def keep_queued(connection: Connection, page: QueuedPage, reasons: Sequence[StaleReason]) -> None:
    """Leave a page in the queue, at its place, although it was just written."""
    connection.execute(
        text(
            """
            UPDATE page SET stale = true, stale_since = :since, stale_reasons = :reasons
            WHERE id = :page AND lease_token = :token
            """
        ),
        {
            "page": page.page_id,
            "token": page.lease_token,
            "since": page.stale_since,
            "reasons": list(reasons),
        },
    )


def _for_each(connection: Connection, statement: str, pages: Sequence[QueuedPage]) -> None:
    if pages:
        connection.execute(
            text(statement),
            [{"page": page.page_id, "token": page.lease_token} for page in pages],
        )
