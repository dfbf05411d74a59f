"""The compile drain: stale pages oldest first, each written whole or not at all.

No transaction is open while a generator or an embedder works. A page that fails keeps its text
and stays in the queue; the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.drain.drain_report import DrainReport, OutageError, Tally
from llmwiki.compiler.drain.faults import as_fault_of_page, fault_of
from llmwiki.compiler.drain.finishing import Outcome, PageFinisher
from llmwiki.compiler.drain.open_pages import OpenPages
from llmwiki.compiler.drain.page_endings import PageEndings
from llmwiki.compiler.drain.refused_requests import RefusedRequests
from llmwiki.compiler.drain.requests import gather_sources, is_unchanged, plan_requests
from llmwiki.compiler.packs import PackLimits
from llmwiki.compiler.page import draft_of
from llmwiki.config import CompileSettings
from llmwiki.domain import (
    Collection,
    Generation,
    PageId,
    StoppedReason,
    TopicId,
    TopicSources,
)
from llmwiki.errors import BudgetExhaustedError, QuotaExhaustedError
from llmwiki.ports import Clock, Generator
from llmwiki.store.queue import QueuedPage, QueueFilter

log = structlog.get_logger()

PAGES_PER_CLAIM = 50
"""Pages that a generator without packs claims at once; bounds memory and transactions."""


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
    _open: OpenPages = field(init=False)
    """Never fewer than a pack takes, while there are some, so that each pack is what it would be
    with the whole queue at hand."""
    _endings: PageEndings = field(init=False)
    _sizes: dict[PageId, int] = field(default_factory=dict, init=False)
    """The largest pack for pages of a request that failed as a whole."""
    _refused: RefusedRequests = field(default_factory=RefusedRequests, init=False)
    _tally: Tally = field(default_factory=Tally, init=False)

    def __post_init__(self) -> None:
        self._open = OpenPages(engine=self.engine, clock=self.clock, lease=self.settings.lease)
        self._endings = PageEndings(
            engine=self.engine,
            finisher=self.finisher,
            settings=self.settings,
            open_pages=self._open,
            tally=self._tally,
        )

    def run(self) -> DrainReport:
        """Empty the queue, or stop at the first cap, quota, outage or deadline."""
        try:
            reason = self._run()
            self._judge_refused()
        finally:
            held = (*self._open.all(), *self._endings.set_aside, *self._refused.pages())
            self._open.release(held)
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
        except OutageError:
            return "outage"
        return "deadline"

    def _claim(self) -> None:
        """Top up the open pages to what a pack takes; without packs, only when none is left."""
        limit = PAGES_PER_CLAIM if self.packing is None else self.packing.max_pages
        if len(self._open) >= (1 if self.packing is None else limit):
            return
        self._open.claim(self.collections, self.which, limit=limit - len(self._open))

    def _step(self) -> None:
        """Ask for the first pack of the open pages; without packs, for all of them."""
        self._open.renew()
        pages = self._open.all()
        with self.engine.connect() as connection:
            sources = gather_sources(connection, pages)
        identity = self.generator.identity
        unchanged = [page for page in pages if is_unchanged(page, sources[page.page_id], identity)]
        self._open.skip(unchanged)
        self._tally.skipped += len(unchanged)
        waiting = self._open.all()
        if self.packing is None:
            for page in waiting:
                self._open.renew(when_due=True)
                if page in self._open:
                    self._ask([page], [sources[page.page_id]])
        elif waiting:
            pack = plan_requests(waiting, sources, self.packing, self._sizes)[0]
            by_topic: dict[TopicId, QueuedPage] = {page.topic.id: page for page in waiting}
            self._ask([by_topic[each.topic.id] for each in pack], pack)

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
            if self._refused.are_in_doubt(pages):
                self._doubt(pages, error)
                return
            fault, error = "page", as_fault_of_page(error)
        if fault == "page" and len(pages) > 1:
            # One page is to blame. Halving finds it, and all the others are written.
            self._halve(pages, error)
            return
        for page in pages:
            self._endings.fail(page, error)
        if self.packing is not None:
            self._tally.count_service_failure()

    def _halve(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        log.warning("compile.pack_halved", pages=len(pages), error=str(error))
        self._sizes |= dict.fromkeys((page.page_id for page in pages), len(pages) // 2)

    def _doubt(self, pages: Sequence[QueuedPage], error: Exception) -> None:
        """Ask for others first; they tell whether it was these pages or the configuration."""
        self._refused.count(error)
        log.warning("compile.request_refused", pages=len(pages), error=str(error))
        for page in pages:
            self._open.close(page)
        self._refused.add(pages, error)

    def _reopen_refused(self) -> None:
        """Ask for halves of the packs that were refused, as no other pages are left to ask for."""
        for pages, error in self._refused.take_packs():
            self._halve(pages, error)
            self._open.add(pages)

    def _blame_refused(self) -> None:
        """Blame the pages that were refused, as another request was answered."""
        self._refused.note_answer()
        self._reopen_refused()
        self._blame_alone()

    def _judge_refused(self) -> None:
        """Blame a page that was refused alone; where others were, too, it is not to blame."""
        self._refused.judge()
        self._blame_alone()

    def _blame_alone(self) -> None:
        alone = self._refused.alone()
        for pages, error in alone:
            self._open.add(pages)
            self._endings.fail(pages[0], as_fault_of_page(error))
        self._refused.forget(alone)

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
            self._open.renew(when_due=True)
            if page in self._open:
                write = partial(self._write, page, sources, generation, len(pack))
                self._endings.finish(page, write)
            else:
                self._endings.lose(page)

    def _write(
        self, page: QueuedPage, sources: TopicSources, generation: Generation, pack_size: int
    ) -> Outcome:
        return self.finisher.finish(
            page,
            sources,
            draft_of(page.topic.id, generation),
            self.generator.identity,
            {"chat_calls": generation.usage.chat_calls, "pages_in_call": pack_size},
        )
