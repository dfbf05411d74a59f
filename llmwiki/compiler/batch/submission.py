"""The drain by batch, first half: claims stale pages, takes the units, and sends the requests."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.batch.pages import BatchPages
from llmwiki.compiler.batch.requests import FileLimits, plan_request, split_files
from llmwiki.compiler.batch.sending import BatchSender
from llmwiki.compiler.drain.open_pages import OpenPages
from llmwiki.compiler.drain.requests import gather_sources, is_unchanged, plan_requests
from llmwiki.compiler.packs import PackLimits
from llmwiki.domain import Collection, GeneratorIdentity, RunId, StoppedReason
from llmwiki.errors import BudgetExhaustedError, InvalidAnswerError
from llmwiki.store import batches
from llmwiki.store.batches import StoredBatch
from llmwiki.store.ledger import LedgerMeter
from llmwiki.store.queue import QueuedPage, QueueFilter
from llmwiki.store.sent_requests import SentRequest

log = structlog.get_logger()

PAGES_PER_ROUND = 1000
"""Pages that are claimed, planned and written at once; bounds memory and transactions."""
_LONGEST_SUBJECT = 200


@dataclass(slots=True, kw_only=True)
class SubmissionReport:
    """What was sent; counted while it is, so that it holds when sending breaks off."""

    requests: int = 0
    """Units taken: also those of a batch whose sending broke off."""
    pages: int = 0
    skipped_unchanged: int = 0
    failed: int = 0
    stopped_reason: StoppedReason = "done"


@dataclass(slots=True, kw_only=True)
class BatchSubmitter:
    """One pass over the queue that compiles nothing yet."""

    engine: Engine
    meter: LedgerMeter
    sender: BatchSender
    pages: BatchPages
    open_pages: OpenPages
    """Claimed and in no batch yet."""
    generator: GeneratorIdentity
    model: str
    packing: PackLimits
    collections: Sequence[Collection]
    which: QueueFilter
    run_id: RunId
    limits: FileLimits = field(default_factory=FileLimits)
    report: SubmissionReport = field(default_factory=SubmissionReport)

    def run(self, *, calls: int) -> SubmissionReport:
        """Send what the budget allows; ``calls`` tells how many pages are worth claiming.

        The ledger decides, not this number. Raises what the sender raises.
        """
        while True:
            left = max(1, calls - self.report.requests)
            if not self._claim(min(PAGES_PER_ROUND, left * self.packing.max_pages)):
                return self.report
            written, within_budget = self._write_claimed()
            for batch, requests in written:
                self.sender.send(batch, requests)
            if not within_budget:
                self.report.stopped_reason = "budget"
                return self.report

    def _claim(self, limit: int) -> bool:
        """Claim for as long as a pack takes: until its batch is written, a crash frees a page."""
        self.open_pages.claim(self.collections, self.which, limit=limit)
        return bool(self.open_pages)

    def _write_claimed(self) -> tuple[list[tuple[StoredBatch, tuple[SentRequest, ...]]], bool]:
        """Write the batches of the claimed pages; what is in none goes back into the queue."""
        try:
            planned = list(self._plan())
            taken = list(self._take_units(planned))
            written = [(self._write(file), file) for file in split_files(taken, self.limits)]
            return written, len(taken) == len(planned)
        finally:
            self.open_pages.release(self.open_pages.all())

    def _plan(self) -> Iterator[SentRequest]:
        pages = self.open_pages.all()
        with self.engine.connect() as connection:
            sources = gather_sources(connection, pages)
        unchanged = [
            page for page in pages if is_unchanged(page, sources[page.page_id], self.generator)
        ]
        self.open_pages.skip(unchanged)
        self.report.skipped_unchanged += len(unchanged)
        self._fail([page for page in self.open_pages.all() if not sources[page.page_id].chunks])
        waiting = self.open_pages.all()
        by_topic = {page.topic.id: page for page in waiting}
        for pack in plan_requests(waiting, sources, self.packing, {}):
            yield plan_request(pack, by_topic, self.model, self.packing)

    def _fail(self, pages: Sequence[QueuedPage]) -> None:
        for page in pages:
            self.pages.fail(page, InvalidAnswerError("no-sources: the topic has no chunks"))
            self.open_pages.close(page)
        self.report.failed += len(pages)

    def _take_units(self, requests: Sequence[SentRequest]) -> Iterator[SentRequest]:
        """Take a unit for each request, until the ledger refuses one.

        The units stay unsettled until the answers are collected; lost with their batch, they
        are spent.
        """
        for request in requests:
            subject = ", ".join(sent.page.topic.key for sent in request.pages)
            try:
                with self.meter.attempt(
                    "chat", "compile", subject=subject[:_LONGEST_SUBJECT]
                ) as unit:
                    call_id = unit.call_id
            except BudgetExhaustedError as error:
                log.info("batch.budget_exhausted", reason=str(error))
                return
            yield replace(request, call_id=call_id)

    def _write(self, requests: tuple[SentRequest, ...]) -> StoredBatch:
        with self.engine.connect() as connection:
            batch = batches.create(
                connection,
                self.run_id,
                token=secrets.token_urlsafe(24),
                service=self.sender.service.address,
                generator=self.generator,
                requests=requests,
            )
            connection.commit()
        for sent in (sent for request in requests for sent in request.pages):
            self.open_pages.close(sent.page)
            self.report.pages += 1
        self.report.requests += len(requests)
        return batch
