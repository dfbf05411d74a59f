"""The compile drain: stale pages oldest first, each written whole or not at all.

No transaction is open while a generator or an embedder works. A page that fails keeps its text
and stays in the queue; the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.faults import fault_of
from llmwiki.compiler.finishing import PageFinisher
from llmwiki.compiler.packs import PackLimits
from llmwiki.compiler.page import draft_of
from llmwiki.compiler.requests import gather_sources, is_unchanged, plan_requests
from llmwiki.compiler.tally import DrainReport, Tally
from llmwiki.config import CompileSettings
from llmwiki.domain import (
    Collection,
    Generation,
    PageId,
    StoppedReason,
    TopicId,
    TopicSources,
    Usage,
)
from llmwiki.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    InvalidAnswerError,
    ProviderError,
    QuotaExhaustedError,
)
from llmwiki.ports import Clock, Generator
from llmwiki.store import page_leases, queue
from llmwiki.store.queue import QueuedPage, QueueFilter

log = structlog.get_logger()

PAGES_PER_CLAIM = 50
"""Pages that a generator without packs claims at once; bounds memory and transactions."""

FAILURES_OF_A_SERVICE = 2
"""After so many failures in a row that no page is to blame for, the service is down."""

REFUSALS_OF_EVERYTHING = 3
"""After so many refused requests and not one answer, the configuration is to blame. One page
causes two at most: after its pack was refused others are asked, and after half of that pack the
other half."""

SHARE_OF_LEASE = 4
"""Leases are renewed before each request, and in between when this part of them has passed."""


class _OutageError(Exception):
    """The service is taken to be down."""


@dataclass(slots=True, kw_only=True)
class Drain:
    """One pass over the queue with one generator."""

    engine: Engine
    generator: Generator
    finisher: PageFinisher
    collections: Sequence[Collection]
    settings: CompileSettings
    packing: PackLimits | None
    """None for a generator that asks no service: it takes its pages one by one. Packs become
    smaller during the run, where they proved too large."""
    clock: Clock
    which: QueueFilter
    deadline: float | None = None
    """On the monotonic clock; no request is begun after it."""
    _open: dict[PageId, QueuedPage] = field(default_factory=dict, init=False)
    """Pages under lease, in their order. Never fewer than a pack takes, while there are some, so
    that each pack is what it would be with the whole queue at hand."""
    _set_aside: list[QueuedPage] = field(default_factory=list, init=False)
    """Drafts that failed: their leases keep this drain from claiming them again."""
    _sizes: dict[PageId, int] = field(default_factory=dict, init=False)
    """The largest pack for pages of a request that failed as a whole."""
    _refused: list[tuple[Sequence[QueuedPage], Exception]] = field(default_factory=list, init=False)
    """Packs, without a page in common, that were refused before any request was answered: either
    they are to blame or the configuration is."""
    _refusals: int = field(default=0, init=False)
    """Requests that were refused before any was answered."""
    _has_answer: bool = field(default=False, init=False)
    """The service answered a request of this drain, so the configuration is right."""
    _renewed_at: float = field(default=0.0, init=False)
    _tally: Tally = field(default_factory=Tally, init=False)

    def run(self) -> DrainReport:
        """Empty the queue, or stop at the first cap, quota, outage or deadline."""
        try:
            reason = self._run()
            self._judge_refused()
        finally:
            doubtful = [page for pages, _ in self._refused for page in pages]
            self._release([*self._open.values(), *self._set_aside, *doubtful])
        return self._tally.report(reason)

    def _run(self) -> StoppedReason:
        try:
            while self.deadline is None or self.clock.monotonic() < self.deadline:
                self._claim()
                if not self._open:
                    self._reopen_refused()
                if not self._open:
                    return "done"
                self._step()
        except BudgetExhaustedError:
            return "budget"
        except QuotaExhaustedError as error:
            log.warning("compile.quota_exhausted", error=str(error))
            return "quota"
        except _OutageError:
            return "outage"
        return "deadline"

    def _claim(self) -> None:
        """Top up the open pages to what a pack takes; without packs, only when none is left."""
        limit = PAGES_PER_CLAIM if self.packing is None else self.packing.max_pages
        if len(self._open) >= (1 if self.packing is None else limit):
            return
        with self.engine.connect() as connection:
            pages = queue.claim(
                connection,
                self.collections,
                limit=limit - len(self._open),
                lease=self.settings.lease,
                which=self.which,
            )
            connection.commit()
        self._open |= {page.page_id: page for page in pages}

    def _step(self) -> None:
        """Ask for the first pack of the open pages; without packs, for all of them."""
        self._renew_leases()
        pages = list(self._open.values())
        with self.engine.connect() as connection:
            sources = gather_sources(connection, pages)
        identity = self.generator.identity
        unchanged = [page for page in pages if is_unchanged(page, sources[page.page_id], identity)]
        self._skip(unchanged)
        waiting = [page for page in pages if page.page_id in self._open]
        if self.packing is None:
            for page in waiting:
                self._renew_leases(when_due=True)
                if page.page_id in self._open:
                    self._ask([page], [sources[page.page_id]])
        elif waiting:
            pack = plan_requests(waiting, sources, self.packing, self._sizes)[0]
            by_topic: dict[TopicId, QueuedPage] = {page.topic.id: page for page in waiting}
            self._ask([by_topic[each.topic.id] for each in pack], pack)

    def _renew_leases(self, *, when_due: bool = False) -> None:
        """Keep what is still ours, so that no request is spent on what another worker has."""
        now = self.clock.monotonic()
        if when_due and now - self._renewed_at < self._lease_seconds / SHARE_OF_LEASE:
            return
        pages = list(self._open.values())
        with self.engine.connect() as connection:
            kept = page_leases.renew(connection, pages, lease=self.settings.lease)
            connection.commit()
        self._renewed_at = now
        lost = [page for page in pages if page.page_id not in kept]
        for page in lost:
            log.warning("compile.lease_lost", page=page.topic.key)
        self._release(lost)

    @property
    def _lease_seconds(self) -> float:
        return self.settings.lease.total_seconds()

    def _skip(self, pages: Sequence[QueuedPage]) -> None:
        with self.engine.connect() as connection:
            page_leases.clear_stale(connection, pages)
            connection.commit()
        for page in pages:
            del self._open[page.page_id]
        self._tally.skipped += len(pages)

    def _ask(self, pages: Sequence[QueuedPage], pack: Sequence[TopicSources]) -> None:
        try:
            generation = self.generator.generate(pack)
        except Exception as error:  # noqa: BLE001 - judged there, and raised where it must be
            self._request_failed(pages, error)
        else:
            self._tally.usage += generation.usage
            if generation.usage.chat_calls:
                self._blame_refused()
            self._finish_pack(pages, pack, generation)

    def _request_failed(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        fault = fault_of(error)
        if fault == "all":
            raise error
        if fault == "page-or-all":
            # A page that failed before is no evidence: it may be what made it fail then.
            if not self._has_answer and not any(page.attempts for page in pages):
                self._doubt(pages, error)
                return
            fault, error = "page", _as_fault_of_page(error)
        if fault == "page" and len(pages) > 1:
            # One page is to blame. Halving finds it, and all the others are written.
            self._halve(pages, error)
            return
        for page in pages:
            self._page_failed(page, error)
        if self.packing is not None:
            self._count_failure_of_service()

    def _halve(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        log.warning("compile.pack_halved", pages=len(pages), error=str(error))
        self._sizes |= dict.fromkeys((page.page_id for page in pages), len(pages) // 2)

    def _doubt(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        """Ask for others first; they tell whether it was these pages or the configuration."""
        self._refusals += 1
        if self._refusals >= REFUSALS_OF_EVERYTHING:
            raise _as_fault_of_all(error)
        log.warning("compile.request_refused", pages=len(pages), error=str(error))
        for page in pages:
            del self._open[page.page_id]
        self._refused.append((pages, error))

    def _reopen_refused(self) -> None:
        """Ask for halves of the packs that were refused, as no other pages are left to ask for."""
        packs = [(pages, error) for pages, error in self._refused if len(pages) > 1]
        self._refused = [each for each in self._refused if each not in packs]
        for pages, error in packs:
            self._halve(pages, error)
            self._open |= {page.page_id: page for page in pages}

    def _blame_refused(self) -> None:
        """Blame the pages that were refused, as another request was answered."""
        self._has_answer = True
        self._reopen_refused()
        for (page,), error in self._refused:
            self._open[page.page_id] = page
            self._page_failed(page, _as_fault_of_page(error))
        self._refused = []

    def _judge_refused(self) -> None:
        """Blame a page that was refused alone; where others were, too, it is not to blame."""
        if len(self._refused) > 1:
            raise _as_fault_of_all(self._refused[-1][1])
        for pages, error in self._refused:
            if len(pages) == 1:
                self._open[pages[0].page_id] = pages[0]
                self._page_failed(pages[0], _as_fault_of_page(error))
        self._refused = [each for each in self._refused if len(each[0]) > 1]

    def _finish_pack(
        self, pages: Sequence[QueuedPage], pack: Sequence[TopicSources], generation: Generation
    ) -> None:
        """Write the pages that arrived; those that an answer lacks for its length stay open."""
        cut_off = generation.truncated and len(pages) > 1
        if cut_off and self.packing is not None:
            log.warning("compile.answer_cut_off", pages=len(pages), whole=len(generation.drafts))
            self.packing = replace(self.packing, max_pages=len(pages) // 2)
        for page, sources in zip(pages, pack, strict=True):
            if cut_off and page.topic.id not in generation.drafts:
                continue
            self._renew_leases(when_due=True)
            if page.page_id in self._open:
                self._finish(page, sources, generation, len(pack))
            else:
                self._record_lost(page)

    def _finish(
        self, page: QueuedPage, sources: TopicSources, generation: Generation, pack_size: int
    ) -> None:
        """Write the page of one topic, or note why not; the rest of the pack is untouched."""
        try:
            outcome = self.finisher.finish(
                page,
                sources,
                draft_of(page.topic.id, generation),
                self.generator.identity,
                {"chat_calls": generation.usage.chat_calls, "pages_in_call": pack_size},
            )
        except Exception as error:
            fault = fault_of(error)
            is_first = fault == "page-or-all" and not self._tally.compiled
            if fault == "all" or is_first:
                raise
            self._page_failed(page, _as_fault_of_page(error) if fault == "page-or-all" else error)
            if fault in {"service", "page-or-all"}:
                self._count_failure_of_service()
                return
        else:
            del self._open[page.page_id]
            self._tally.compiled += outcome.written
            self._tally.usage += Usage(embed_calls=outcome.embed_calls)
        self._tally.service_failures_in_a_row = 0

    def _page_failed(self, page: QueuedPage, error: Exception) -> None:
        """Count the failure, unless a better generator follows, which is to have its chance."""
        if isinstance(error, ProviderError):
            log.warning("compile.page_failed", page=page.topic.key, error=str(error))
        else:
            log.error("compile.page_broke", page=page.topic.key, exc_info=error)
            error = InvalidAnswerError(f"internal error: {error!r}")
        del self._open[page.page_id]
        with self.engine.connect() as connection:
            if self.finisher.upgrade_follows:
                self._set_aside.append(page)
            elif not page_leases.note_failure(
                connection,
                page,
                str(error),
                retry_after=self.settings.retry_after,
                max_attempts=self.settings.max_attempts,
            ):
                self._record_lost(page)
                return
            self.finisher.record_failure(connection, page, error)
            connection.commit()
        self._tally.failed += 1

    def _record_lost(self, page: QueuedPage) -> None:
        """Record that what was paid for is discarded: another worker has the page."""
        with self.engine.connect() as connection:
            self.finisher.record(connection, page, {"status": "lease-lost"})
            connection.commit()

    def _count_failure_of_service(self) -> None:
        self._tally.service_failures_in_a_row += 1
        if self._tally.service_failures_in_a_row >= FAILURES_OF_A_SERVICE:
            raise _OutageError

    def _release(self, pages: Sequence[QueuedPage]) -> None:
        with self.engine.connect() as connection:
            page_leases.release(connection, pages)
            connection.commit()
        for page in pages:
            self._open.pop(page.page_id, None)


def _as_fault_of_page(error: Exception) -> InvalidAnswerError:
    return InvalidAnswerError(str(error))


def _as_fault_of_all(error: Exception) -> ConfigurationError:
    return ConfigurationError(f"different requests were refused and none was answered: {error}")
