"""The compile drain by the provider's batch service: one run sends the packs, a later one collects.

``llmwiki drain --via batch`` and ``llmwiki nightly --via batch`` do both: first they collect what
is finished, then they send what has become stale.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

import structlog

from jobs.page_finisher import open_finisher
from jobs.runner import JobContext
from llmwiki.compiler.batch.collection import BatchCollector
from llmwiki.compiler.batch.pages import BatchPages
from llmwiki.compiler.batch.sending import BatchSender
from llmwiki.compiler.batch.submission import BatchSubmitter
from llmwiki.compiler.drain.drain_report import DrainReport
from llmwiki.compiler.drain.open_pages import OpenPages
from llmwiki.config import GeneratorSettings
from llmwiki.domain import RunId, StoppedReason, Usage
from llmwiki.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    ProviderError,
    QuotaExhaustedError,
)
from llmwiki.providers.openai_batch import OpenAIBatches
from llmwiki.providers.openai_client import open_client
from llmwiki.store import batches
from llmwiki.store.queue import QueueFilter

log = structlog.get_logger()

_TRANSFER_SECONDS = 600.0
"""For one request at least: a file of requests or answers is larger than a chat."""


@dataclass(slots=True, kw_only=True)
class BatchDrain:
    """The two steps of one run, which stop at the first cap, quota or outage."""

    context: JobContext
    sender: BatchSender
    collector: BatchCollector
    submitter: BatchSubmitter
    adopted: int = 0
    stopped_reason: StoppedReason | None = None

    def collect(self) -> None:
        """Finish interrupted submits, and write the pages of finished batches."""
        collections = self.context.options.collections
        with self._stopping():
            self.adopted = self.sender.adopt(collections)
            self.collector.run(collections)

    def submit(self, *, calls: int) -> None:
        """Send what is stale, unless collecting broke off: the same service would be asked."""
        if self.stopped_reason is None:
            with self._stopping():
                self.stopped_reason = self.submitter.run(calls=calls).stopped_reason

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        try:
            yield
        except BudgetExhaustedError:
            self.stopped_reason = "budget"
        except QuotaExhaustedError as error:
            log.warning("compile.quota_exhausted", error=str(error))
            self.stopped_reason = "quota"
        except ProviderError as error:
            log.warning("compile.batch_service_failed", error=str(error))
            self.stopped_reason = "outage"

    def report(self) -> DrainReport:
        """Return what was done, in the terms of a drain; calls are counted when they are sent."""
        collected, sent = self.collector.report, self.submitter.report
        return DrainReport(
            compiled=collected.compiled,
            skipped_unchanged=sent.skipped_unchanged,
            failed=collected.failed + sent.failed,
            usage=collected.usage + Usage(chat_calls=sent.requests),
            stopped_reason=self.stopped_reason or "done",
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """Tell of batches that as a whole were refused, or are not to be had."""
        return tuple(self.collector.report.errors)

    def facts(self) -> dict[str, object]:
        """Return what the record of the run says beside the figures of every drain."""
        collected, sent = self.collector.report, self.submitter.report
        with self.context.app.engine.connect() as connection:
            pending = batches.count_open(connection, self.context.options.collections)
        return {
            "via": "batch",
            "submitted_requests": sent.requests,
            "submitted_pages": sent.pages,
            "adopted_batches": self.adopted,
            "collected_batches": collected.batches,
            "collected_requests": collected.requests,
            "given_back": collected.given_back,
            "ignored_lines": collected.ignored_lines,
            "pending_batches": pending.batches,
            "pending_requests": pending.requests,
            "pending_pages": pending.pages,
            "errors": list(self.errors),
        }

    def lines(self, facts: Mapping[str, object]) -> tuple[str, ...]:
        """Return what the facts say, for people."""
        told = (
            f"by batch: {facts['submitted_requests']} requests for {facts['submitted_pages']} "
            f"pages sent, {facts['collected_requests']} requests collected, "
            f"{facts['pending_requests']} pending"
        )
        return (told, *(f"by batch: {error}" for error in self.errors))


@contextmanager
def open_batch_drain(
    context: JobContext, run_id: RunId, which: QueueFilter
) -> Iterator[BatchDrain]:
    """Wire the two steps for one run. Raises ConfigurationError where there is no service."""
    app = context.app
    chosen, settings = app.settings.generator, app.settings.compile
    if chosen.provider != "openai" or chosen.model is None:
        raise ConfigurationError(
            "--via batch needs generator.provider openai and generator.model, "
            "of a service with a Batch API"
        )
    finisher = open_finisher(context, run_id, upgrade_follows=False)
    pages = BatchPages(engine=app.engine, finisher=finisher, settings=settings)
    with _open_service(context, chosen) as service:
        sender = BatchSender(engine=app.engine, service=service, pages=pages, run_id=run_id)
        yield BatchDrain(
            context=context,
            sender=sender,
            collector=BatchCollector(
                engine=app.engine, service=service, finisher=finisher, pages=pages, run_id=run_id
            ),
            submitter=BatchSubmitter(
                engine=app.engine,
                meter=app.meter,
                sender=sender,
                pages=pages,
                open_pages=OpenPages(engine=app.engine, clock=app.clock, lease=settings.lease),
                generator=app.generator.identity,
                model=chosen.model,
                packing=app.packing,
                collections=context.options.collections,
                which=which,
                run_id=run_id,
            ),
        )


@contextmanager
def _open_service(context: JobContext, chosen: GeneratorSettings) -> Iterator[OpenAIBatches]:
    client = open_client(
        base_url=chosen.base_url,
        api_key=None if chosen.api_key is None else chosen.api_key.get_secret_value(),
        request_timeout=max(chosen.request_timeout, _TRANSFER_SECONDS),
    )
    with closing(client):
        yield OpenAIBatches(
            client,
            address=str(client.base_url),
            clock=context.app.clock,
            max_attempts=chosen.max_attempts,
        )
