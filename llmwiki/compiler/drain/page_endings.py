"""Ends the open pages of a drain one by one: written, failed, or lost to another worker."""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import StatementError

from llmwiki.compiler.drain.drain_report import Tally
from llmwiki.compiler.drain.faults import as_fault_of_page, fault_of
from llmwiki.compiler.drain.finishing import Outcome, PageFinisher
from llmwiki.compiler.drain.open_pages import OpenPages
from llmwiki.config import CompileSettings
from llmwiki.domain import Usage
from llmwiki.errors import InvalidAnswerError, ProviderError
from llmwiki.store import page_leases
from llmwiki.store.database_errors import told_by_database
from llmwiki.store.queue import QueuedPage

log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class PageEndings:
    """Takes pages out of the open ones, and counts what became of them."""

    engine: Engine
    finisher: PageFinisher
    settings: CompileSettings
    open_pages: OpenPages
    tally: Tally
    set_aside: list[QueuedPage] = field(default_factory=list, init=False)
    """Drafts that failed: their leases keep this drain from claiming them again."""

    def finish(self, page: QueuedPage, write: Callable[[], Outcome]) -> None:
        """Write a page, or note why not; the rest of its pack is untouched.

        Raises what no page is to blame for, and OutageError.
        """
        try:
            outcome = write()
        except Exception as error:
            fault = fault_of(error)
            is_first = fault == "page-or-all" and not self.tally.compiled
            if fault == "all" or is_first:
                raise
            self.fail(page, as_fault_of_page(error) if fault == "page-or-all" else error)
            if fault in {"service", "page-or-all"}:
                self.tally.count_service_failure()
                return
        else:
            self.open_pages.close(page)
            self.tally.compiled += outcome.written
            self.tally.usage += Usage(embed_calls=outcome.embed_calls)
        self.tally.service_failures_in_a_row = 0

    def fail(self, page: QueuedPage, error: Exception) -> None:
        """Count the failure, unless a better generator follows, which is to have its chance."""
        if isinstance(error, ProviderError):
            log.warning("compile.page_failed", page=page.topic.key, error=str(error))
        else:
            log.error("compile.page_broke", page=page.topic.key, exc_info=error)
            told = told_by_database(error) if isinstance(error, StatementError) else repr(error)
            error = InvalidAnswerError(f"internal error: {told}")
        self.open_pages.close(page)
        with self.engine.connect() as connection:
            if self.finisher.upgrade_follows:
                self.set_aside.append(page)
            elif not page_leases.note_failure(
                connection,
                page,
                str(error),
                retry_after=self.settings.retry_after,
                max_attempts=self.settings.max_attempts,
            ):
                self.lose(page)
                return
            self.finisher.record_failure(connection, page, error)
            connection.commit()
        self.tally.failed += 1

    def lose(self, page: QueuedPage) -> None:
        """Record that what was paid for is discarded: another worker has the page."""
        with self.engine.connect() as connection:
            self.finisher.record(connection, page, {"status": "lease-lost"})
            connection.commit()
