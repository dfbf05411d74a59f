"""What becomes of the pages of a batch's request that get no text from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.config import CompileSettings
from llmwiki.errors import ProviderError
from llmwiki.store import batch_leases, page_leases, sent_requests
from llmwiki.store.batch_leases import SentPage
from llmwiki.store.batches import StoredBatch
from llmwiki.store.ledger import LedgerAttempt
from llmwiki.store.queue import QueuedPage
from llmwiki.store.sent_requests import SentRequest

log = structlog.get_logger()

VIA = {"via": "batch"}
"""Tells in a record by which way its page was compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPages:
    """Gives pages back to the queue, and settles the requests that they were sent in."""

    engine: Engine
    finisher: PageFinisher
    settings: CompileSettings

    def give_back(self, pages: Sequence[SentPage], reason: str) -> int:
        """Put those that still wait for their answer back, no attempt counted; return how many."""
        with self.engine.connect() as connection:
            standings = batch_leases.standings(connection, pages)
            ours = [
                sent.page
                for sent in pages
                if standings[sent.page.page_id] in {"held", "retired", "fresh"}
            ]
            page_leases.release(connection, ours)
            for page in ours:
                facts: dict[str, Any] = {"status": "given-back", "reason": reason, **VIA}
                self.finisher.record(connection, page, facts)
            connection.commit()
        return len(ours)

    def fail(self, page: QueuedPage, error: ProviderError) -> None:
        """Count a failed attempt of a page, which keeps its last text."""
        log.warning("compile.page_failed", page=page.topic.key, error=str(error))
        with self.engine.connect() as connection:
            page_leases.note_failure(
                connection,
                page,
                str(error),
                retry_after=self.settings.retry_after,
                max_attempts=self.settings.max_attempts,
            )
            self.finisher.record_failure(connection, page, error)
            connection.commit()

    def settle(
        self,
        batch: StoredBatch,
        request: SentRequest,
        outcome: str,
        *,
        http_status: int | None = None,
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        """Note the outcome of a request, in the ledger first: told twice, it says the same."""
        if request.call_id is not None:
            LedgerAttempt(engine=self.engine, call_id=request.call_id).settle(
                outcome, http_status=http_status, input_tokens=tokens[0], output_tokens=tokens[1]
            )
        with self.engine.connect() as connection:
            sent_requests.finish_request(connection, batch.id, request, outcome)
            connection.commit()
