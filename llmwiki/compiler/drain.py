"""The compile drain: stale pages oldest first, each written whole or not at all.

No transaction is open while a generator or an embedder works. A page that fails keeps its text
and stays in the queue; the others go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.finishing import PageFinisher
from llmwiki.compiler.packs import PackLimits, plan_packs
from llmwiki.compiler.page import draft_of
from llmwiki.compiler.recipe import recipe_hash, source_hash
from llmwiki.config import CompileSettings
from llmwiki.domain import Collection, Generation, PageId, StoppedReason, TopicSources, Usage
from llmwiki.errors import (
    BudgetExhaustedError,
    InvalidAnswerError,
    ProviderError,
    QuotaExhaustedError,
)
from llmwiki.ports import Clock, Generator
from llmwiki.store import chunks, queue
from llmwiki.store.queue import QueuedPage, QueueFilter

log = structlog.get_logger()

PAGES_PER_CLAIM = 50
"""Pages that a generator without packs claims at once; bounds memory and transactions."""

FAILED_REQUESTS_IN_A_ROW = 2
"""After so many requests that failed as a whole, the service is taken to be down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainReport:
    """What a drain did, in pages, and the calls that it spent."""

    compiled: int
    skipped_unchanged: int
    failed: int
    usage: Usage
    stopped_reason: StoppedReason


@dataclass(slots=True)
class Tally:
    """Running counts of one drain."""

    compiled: int = 0
    skipped: int = 0
    failed: int = 0
    failed_requests_in_a_row: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True, kw_only=True)
class Drain:
    """One pass over the queue with one generator."""

    engine: Engine
    generator: Generator
    finisher: PageFinisher
    collections: Sequence[Collection]
    settings: CompileSettings
    packing: PackLimits | None
    """None for a generator that asks no service: it takes its pages one by one."""
    clock: Clock
    which: QueueFilter
    deadline: float | None = None
    """On the monotonic clock; no page is claimed after it."""
    _open: dict[PageId, QueuedPage] = field(default_factory=dict, init=False)
    _tally: Tally = field(default_factory=Tally, init=False)

    def run(self) -> DrainReport:
        """Empty the queue, or stop at the first cap, quota, outage or deadline."""
        reason: StoppedReason | None = None
        while reason is None:
            if self.deadline is not None and self.clock.monotonic() >= self.deadline:
                reason = "deadline"
            elif self._claim():
                reason = self._compile_claimed()
            else:
                reason = "done"
        return DrainReport(
            compiled=self._tally.compiled,
            skipped_unchanged=self._tally.skipped,
            failed=self._tally.failed,
            usage=self._tally.usage,
            stopped_reason=reason,
        )

    def _claim(self) -> bool:
        with self.engine.connect() as connection:
            pages = queue.claim(
                connection,
                self.collections,
                limit=self.packing.max_pages if self.packing else PAGES_PER_CLAIM,
                lease=self.settings.lease,
                which=self.which,
            )
            connection.commit()
        self._open = {page.page_id: page for page in pages}
        return bool(pages)

    def _compile_claimed(self) -> StoppedReason | None:
        """Compile what was claimed; whatever is left open goes back into the queue."""
        try:
            self._compile(list(self._open.values()))
        except BudgetExhaustedError:
            return "budget"
        except QuotaExhaustedError as error:
            log.warning("compile.quota_exhausted", error=str(error))
            return "quota"
        except ProviderError as error:
            return self._request_failed(error)
        else:
            self._tally.failed_requests_in_a_row = 0
            return None
        finally:
            self._release_open()

    def _compile(self, pages: Sequence[QueuedPage]) -> None:
        sources = self._gather(pages)
        unchanged = [page for page in pages if self._is_unchanged(page, sources[page.page_id])]
        self._skip(unchanged)
        moved = {page.topic.id: page for page in pages if page not in unchanged}
        waiting = [sources[page.page_id] for page in moved.values()]
        for pack in self._packs(waiting):
            generation = self.generator.generate(pack)
            self._tally.usage += generation.usage
            for topic_sources in pack:
                page = moved[topic_sources.topic.id]
                self._finish(page, sources[page.page_id], generation, len(pack))

    def _packs(self, waiting: Sequence[TopicSources]) -> Sequence[Sequence[TopicSources]]:
        if self.packing is None:
            return [[sources] for sources in waiting]
        return plan_packs(waiting, self.packing)

    def _gather(self, pages: Sequence[QueuedPage]) -> dict[PageId, TopicSources]:
        with self.engine.connect() as connection:
            found = chunks.topic_sources(connection, [page.topic.id for page in pages])
        return {
            page.page_id: TopicSources(topic=page.topic, chunks=found.get(page.topic.id, ()))
            for page in pages
        }

    def _is_unchanged(self, page: QueuedPage, sources: TopicSources) -> bool:
        """Tell whether the sources are again what the page was compiled from (a revert)."""
        return (
            page.source_hash == source_hash(sources.chunks)
            and page.recipe_hash == recipe_hash(self.generator.identity)
            and page.title_at_compile == page.topic.title
        )

    def _skip(self, pages: Sequence[QueuedPage]) -> None:
        with self.engine.connect() as connection:
            queue.clear_stale(connection, pages)
            connection.commit()
        for page in pages:
            del self._open[page.page_id]
        self._tally.skipped += len(pages)

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
        except InvalidAnswerError as error:
            self._page_failed(page, error)
        else:
            self._tally.compiled += outcome.written
            self._tally.usage += Usage(embed_calls=outcome.embed_calls)
        del self._open[page.page_id]

    def _page_failed(self, page: QueuedPage, error: ProviderError) -> None:
        log.warning("compile.page_failed", page=page.topic.key, error=str(error))
        with self.engine.connect() as connection:
            queue.note_failure(
                connection,
                page,
                str(error),
                retry_after=self.settings.retry_after,
                max_attempts=self.settings.max_attempts,
            )
            self.finisher.record_failure(connection, page, error)
            connection.commit()
        self._tally.failed += 1

    def _request_failed(self, error: ProviderError) -> StoppedReason | None:
        """Count the failure against every page that was asked for; stop when it repeats."""
        for page in list(self._open.values()):
            self._page_failed(page, error)
            del self._open[page.page_id]
        self._tally.failed_requests_in_a_row += 1
        repeated = self._tally.failed_requests_in_a_row >= FAILED_REQUESTS_IN_A_ROW
        return "outage" if repeated else None

    def _release_open(self) -> None:
        with self.engine.connect() as connection:
            queue.release(connection, list(self._open.values()))
            connection.commit()
        self._open = {}
