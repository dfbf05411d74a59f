"""The leases of pages that wait for a batch: longer than those of a drain, but the same leases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, PageId, TopicSources
from llmwiki.store.queue import QueuedPage

WINDOW = timedelta(hours=26)
"""How long a page is kept for its batch: the service's day, and time to come and collect."""

Standing = Literal["held", "settled", "taken", "retired", "fresh", "gone"]
"""Held for its batch; given back or written already; leased to another; or not to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPage:
    """A page as it was claimed for a request, with its sources of that moment."""

    page: QueuedPage
    sources: TopicSources
    shown: tuple[ChunkId, ...]
    """The chunks that the request showed, in its order, which the answer's labels follow."""


_HOLD = """
UPDATE page SET lease_until = now() + :window
FROM unnest(CAST(:pages AS bigint[]), CAST(:tokens AS bigint[])) AS ours (page, token)
WHERE page.id = ours.page AND page.lease_token = ours.token AND page.lease_until IS NOT NULL
RETURNING page.id
"""

_STANDING = """
SELECT p.id,
       CASE WHEN p.lease_token <> ours.token THEN 'taken'
            WHEN p.lease_until IS NULL THEN 'settled'
            WHEN p.retired_at IS NOT NULL THEN 'retired'
            WHEN NOT p.stale THEN 'fresh'
            ELSE 'held' END AS standing
FROM unnest(CAST(:pages AS bigint[]), CAST(:tokens AS bigint[])) AS ours (page, token)
JOIN page p ON p.id = ours.page
"""


def hold(connection: Connection, pages: Sequence[SentPage]) -> int:
    """Keep the pages for another window; return how many are still ours to keep."""
    held = connection.execute(text(_HOLD), {"window": WINDOW, **_tokens(pages)})
    return len(held.all())


def standings(connection: Connection, pages: Sequence[SentPage]) -> dict[PageId, Standing]:
    """Return how each page stands today.

    Its lease is the mark that its answer is still awaited: whatever writes the page or gives it
    back ends the lease in the same transaction.
    """
    found: dict[PageId, Standing] = {sent.page.page_id: "gone" for sent in pages}
    for row in connection.execute(text(_STANDING), _tokens(pages)):
        found[PageId(row.id)] = row.standing
    return found


def _tokens(pages: Sequence[SentPage]) -> Mapping[str, list[int]]:
    return {
        "pages": [sent.page.page_id for sent in pages],
        "tokens": [sent.page.lease_token for sent in pages],
    }
