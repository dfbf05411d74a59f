"""Pins: a page keeps its text while the chunks of its topic stay as they were.

A pin, and the memory of a quarantine, is one hash over the contents of the topic's chunks. It
leaves out the ids of the chunks, so that a section that moves to another file moves nothing.
"""

from sqlalchemy import Connection, text

from llmwiki.domain import PageId


def current_edges(page: str) -> str:
    """Return the SQL expression for the hash of what the topic of the page (an alias) owns now."""
    return f"""(
        SELECT encode(sha256(convert_to(coalesce(
            string_agg(c.content_hash, ' ' ORDER BY c.content_hash COLLATE "C"), ''
        ), 'UTF8')), 'hex')
        FROM topic_chunk tc JOIN chunk c ON c.id = tc.chunk_id
        WHERE tc.topic_id = {page}.topic_id
    )"""  # noqa: S608 - the alias is a constant of the caller


def pin_holds(page: str) -> str:
    """Return the SQL condition that the page (an alias) is pinned and its topic did not move.

    A condition of CASE, since only this keeps the hash from being computed for every page.
    """
    return f"""CASE WHEN {page}.pinned_edges IS NULL THEN false
        ELSE {page}.pinned_edges = {current_edges(page)} END"""


_PIN = f"""
UPDATE page p
SET pinned_at = now(), pinned_edges = {current_edges("p")},
    stale = false, stale_since = NULL, stale_reasons = '{{}}',
    attempts = 0, not_before = NULL, last_error = NULL,
    quarantined_at = NULL, quarantined_edges = NULL,
    lease_token = lease_token + 1, lease_until = NULL
WHERE id = :page
"""  # noqa: S608 - composed of constants

_HOLDS = f"SELECT {pin_holds('p')} FROM page p WHERE id = :page"  # noqa: S608 - see above


def pin(connection: Connection, page_id: PageId) -> None:
    """Take the page out of the queue until its sources move.

    Its token is raised: a worker whose lease ran out must not write over it.
    """
    connection.execute(text(_PIN), {"page": page_id})


def is_pinned(connection: Connection, page_id: PageId) -> bool:
    """Tell whether the page has a pin that holds."""
    return bool(connection.execute(text(_HOLDS), {"page": page_id}).scalar_one())
