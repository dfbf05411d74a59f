"""The drain by batch, second half: turns the answers of finished batches into pages.

A batch that ran out of time keeps what it finished: that was paid for. Collecting can break off
anywhere and begin anew; a page whose lease is over is never written a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import assert_never

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.answer import read_answer
from llmwiki.compiler.batch.pages import VIA, BatchPages
from llmwiki.compiler.batch.results import BatchResults, RequestResult, read_results
from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.compiler.page import draft_of
from llmwiki.domain import Collection, Generation, RunId, TopicSources, Usage
from llmwiki.errors import InvalidAnswerError
from llmwiki.providers.openai_batch import OpenAIBatches, ServiceBatch
from llmwiki.store import batch_leases, batches, sent_requests
from llmwiki.store.batch_leases import SentPage, Standing
from llmwiki.store.batches import StoredBatch
from llmwiki.store.sent_requests import SentRequest

log = structlog.get_logger()

FINISHED = frozenset({"completed", "expired", "cancelled", "failed"})
GIVE_UP_AFTER = timedelta(days=7)
"""A batch that its service does not know may show again with the right key; so long it may."""

_LOST = "the service does not know it, or not its files"
_MISSING = RequestResult(outcome="missing", problem="the batch has no answer to this request")


@dataclass(slots=True, kw_only=True)
class CollectionReport:
    """What was collected; counted while it is, so that it holds when collecting breaks off."""

    batches: int = 0
    requests: int = 0
    compiled: int = 0
    failed: int = 0
    given_back: int = 0
    ignored_lines: int = 0
    usage: Usage = field(default_factory=Usage)
    errors: list[str] = field(default_factory=list)
    """Of batches that as a whole were refused, or are not to be had."""


@dataclass(slots=True, kw_only=True)
class BatchCollector:
    """Collects the batches of one service for one run."""

    engine: Engine
    service: OpenAIBatches
    finisher: PageFinisher
    pages: BatchPages
    run_id: RunId
    report: CollectionReport = field(default_factory=CollectionReport)

    def run(self, collections: Sequence[Collection]) -> CollectionReport:
        """Collect every batch that is finished; the others are looked at again by a later run.

        Raises what the service raises, and what the embedder raises while pages are written.
        """
        with self.engine.connect() as connection:
            found = batches.claim(connection, self.run_id, collections, "submitted")
            connection.commit()
        for batch in found:
            if batch.service == self.service.address:
                self._look_at(batch)
            else:
                log.warning("batch.other_service", batch=batch.id, service=batch.service)
        return self.report

    def _look_at(self, batch: StoredBatch) -> None:
        with self.engine.connect() as connection:
            requests = sent_requests.open_requests(connection, batch.id)
        known = self.service.retrieve(batch.service_batch_id or "")
        if known is not None and known.status not in FINISHED:
            with self.engine.connect() as connection:
                batch_leases.hold(connection, [sent for each in requests for sent in each.pages])
                connection.commit()
            log.info("batch.pending", batch=batch.id, status=known.status)
            return
        results = None if known is None else self._results(batch, known)
        if known is not None and results is not None:
            self._collect(batch, requests, results, status=known.status, error=known.error)
        elif batch.age < GIVE_UP_AFTER:
            self.report.errors.append(f"batch {batch.id}: {_LOST}; the next run asks again")
        else:
            nothing = BatchResults(by_id={}, ignored=0)
            self._collect(batch, requests, nothing, status=None, error=_LOST)

    def _results(self, batch: StoredBatch, known: ServiceBatch) -> BatchResults | None:
        """Read what files there are, the answers first; None when one is not to be had."""
        ids = [each for each in (known.output_file_id, known.error_file_id) if each]
        contents = [self.service.read(each) for each in ids]
        found = [content for content in contents if content is not None]
        if len(found) < len(ids):
            return None
        with self.engine.connect() as connection:
            expected = sent_requests.custom_ids(connection, batch.id)
        try:
            return read_results(found, expected)
        except InvalidAnswerError as error:
            log.warning("batch.unreadable", batch=batch.id, error=str(error))
            return None

    def _collect(
        self,
        batch: StoredBatch,
        requests: Sequence[SentRequest],
        results: BatchResults,
        *,
        status: str | None,
        error: str,
    ) -> None:
        for request in requests:
            result = results.by_id.get(request.custom_id, _MISSING)
            if result is _MISSING and status in {"expired", "cancelled", "failed"}:
                result = RequestResult(outcome=str(status), problem=error or str(status))
            self._take_result(batch, request, result)
        is_failed = status in {"failed", None}
        with self.engine.connect() as connection:
            batches.close(
                connection,
                batch,
                self.run_id,
                state="failed" if is_failed else "collected",
                status=status,
                error=error,
            )
            connection.commit()
        self.report.batches += 1
        self.report.ignored_lines += results.ignored
        if is_failed:
            self.report.errors.append(error or f"batch {batch.id}: the service refused it")
        log.info("batch.collected", batch=batch.id, status=status, ignored=results.ignored)

    def _take_result(self, batch: StoredBatch, request: SentRequest, result: RequestResult) -> None:
        """Write, fail or give back the pages of a request, then settle its unit."""
        with self.engine.connect() as connection:
            standings = batch_leases.standings(connection, request.pages)
        waiting = [
            sent for sent in request.pages if self._awaits(sent, standings[sent.page.page_id])
        ]
        if result.text:
            self._write_pages(batch, waiting, request, result)
        elif result.is_failure:
            for sent in waiting:
                self._fail(sent, InvalidAnswerError(result.problem))
        else:
            self.report.given_back += self.pages.give_back(waiting, result.outcome)
        tokens = (result.input_tokens, result.output_tokens)
        self.pages.settle(
            batch, request, result.outcome, http_status=result.http_status, tokens=tokens
        )
        self.report.requests += 1
        self.report.usage += Usage(input_tokens=tokens[0], output_tokens=tokens[1])

    def _awaits(self, sent: SentPage, standing: Standing) -> bool:
        """Tell whether a page is still to be written; one that need not be is given back."""
        match standing:
            case "held":
                return True
            case "retired" | "fresh":
                # Written all the same it would only be stale again, for sources of the past.
                self.report.given_back += self.pages.give_back([sent], standing)
            case "taken":
                self._note_lost(sent)
            case "settled" | "gone":
                pass
            case _:
                assert_never(standing)
        return False

    def _note_lost(self, sent: SentPage) -> None:
        log.warning("compile.lease_lost", page=sent.page.topic.key)
        with self.engine.connect() as connection:
            self.finisher.record(connection, sent.page, {"status": "lease-lost", **VIA})
            connection.commit()

    def _write_pages(
        self,
        batch: StoredBatch,
        waiting: Sequence[SentPage],
        request: SentRequest,
        result: RequestResult,
    ) -> None:
        """Write the pages of an answer, each for itself, as a drain that asked just now would."""
        parsed = read_answer(result.text, [_as_shown(sent) for sent in request.pages])
        generation = Generation(
            drafts=parsed.drafts,
            problems=parsed.problems,
            truncated=parsed.truncated or result.finish_reason == "length",
        )
        facts = {"chat_calls": 1, "pages_in_call": len(request.pages), **VIA}
        for sent in waiting:
            topic_id = sent.page.topic.id
            if generation.truncated and generation.drafts and topic_id not in generation.drafts:
                # There was no room for it; its next request has that of the pages that came.
                self.report.given_back += self.pages.give_back([sent], "truncated")
                continue
            try:
                draft = draft_of(topic_id, generation)
                outcome = self.finisher.finish(
                    sent.page, sent.sources, draft, batch.generator, facts
                )
            except InvalidAnswerError as error:
                self._fail(sent, error)
            else:
                self.report.compiled += outcome.written
                self.report.usage += Usage(embed_calls=outcome.embed_calls)

    def _fail(self, sent: SentPage, error: InvalidAnswerError) -> None:
        self.pages.fail(sent.page, error)
        self.report.failed += 1


def _as_shown(sent: SentPage) -> TopicSources:
    chunks = {chunk.id: chunk for chunk in sent.sources.chunks}
    return replace(sent.sources, chunks=tuple(chunks[each] for each in sent.shown))
