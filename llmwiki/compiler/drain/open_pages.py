"""The pages that a drain holds under lease: claimed, kept while it works, and given back.

The drain by batch holds its pages in the same way, until a batch keeps them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from sqlalchemy import Engine

from llmwiki.domain import Collection, PageId
from llmwiki.ports import Clock
from llmwiki.store import page_leases, queue
from llmwiki.store.queue import QueuedPage, QueueFilter

log = structlog.get_logger()

SHARE_OF_LEASE = 4
"""Leases are renewed before each request, and in between when this part of them has passed."""


@dataclass(slots=True, kw_only=True)
class OpenPages:
    """Pages under lease that are neither written nor given up yet, in their order."""

    engine: Engine
    clock: Clock
    lease: timedelta
    _pages: dict[PageId, QueuedPage] = field(default_factory=dict, init=False)
    _renewed_at: float = field(default=0.0, init=False)

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, page: QueuedPage) -> bool:
        return page.page_id in self._pages

    def all(self) -> list[QueuedPage]:
        """Return the pages in their order."""
        return list(self._pages.values())

    def add(self, pages: Iterable[QueuedPage]) -> None:
        """Open pages whose leases are held."""
        self._pages |= {page.page_id: page for page in pages}

    def close(self, page: QueuedPage) -> None:
        """Take out a page that is done with, or held for another reason; its lease stays."""
        del self._pages[page.page_id]

    def claim(self, collections: Sequence[Collection], which: QueueFilter, *, limit: int) -> None:
        """Lease up to so many more pages, oldest first."""
        with self.engine.connect() as connection:
            pages = queue.claim(connection, collections, limit=limit, lease=self.lease, which=which)
            connection.commit()
        self.add(pages)

    def renew(self, *, when_due: bool = False) -> None:
        """Keep what is still ours, so that no request is spent on what another worker has."""
        now = self.clock.monotonic()
        if when_due and now - self._renewed_at < self.lease.total_seconds() / SHARE_OF_LEASE:
            return
        pages = self.all()
        with self.engine.connect() as connection:
            kept = page_leases.renew(connection, pages, lease=self.lease)
            connection.commit()
        self._renewed_at = now
        lost = [page for page in pages if page.page_id not in kept]
        for page in lost:
            log.warning("compile.lease_lost", page=page.topic.key)
        self.release(lost)

    def skip(self, pages: Sequence[QueuedPage]) -> None:
        """Take pages out of the queue whose text is that of their sources."""
        with self.engine.connect() as connection:
            page_leases.clear_stale(connection, pages)
            connection.commit()
        for page in pages:
            self.close(page)

    def release(self, pages: Sequence[QueuedPage]) -> None:
        """Give leases up, also those of pages that were closed, without counting an attempt."""
        with self.engine.connect() as connection:
            page_leases.release(connection, pages)
            connection.commit()
        for page in pages:
            self._pages.pop(page.page_id, None)
