"""Takes a batch that is written in the database to the service, however often it needs.

Each step is committed before the next begins, so that whoever comes after a crash finds how far
it went: the row, then the file's id, then the batch's id.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Engine

from llmwiki.compiler.batch.pages import BatchPages
from llmwiki.compiler.batch.requests import file_content, file_name
from llmwiki.domain import Collection, RunId
from llmwiki.errors import ConfigurationError, InvalidAnswerError, ProviderError
from llmwiki.providers.openai_batch import OpenAIBatches
from llmwiki.store import batch_leases, batches, sent_requests
from llmwiki.store.batches import StoredBatch
from llmwiki.store.sent_requests import SentRequest

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSender:
    """Sends batches for one run."""

    engine: Engine
    service: OpenAIBatches
    pages: BatchPages
    run_id: RunId

    def adopt(self, collections: Sequence[Collection]) -> int:
        """Finish the submits that were interrupted; return how many batches those were.

        Nothing that reached the service is sent again. Raises what ``send`` raises.
        """
        with self.engine.connect() as connection:
            found = batches.claim(connection, self.run_id, collections, "submitting")
            connection.commit()
        adopted = 0
        for batch in found:
            if batch.service == self.service.address:
                log.info("batch.adopted", batch=batch.id)
                adopted += self._adopt(batch)
            else:
                log.warning("batch.other_service", batch=batch.id, service=batch.service)
        return adopted

    def _adopt(self, batch: StoredBatch) -> bool:
        known = self.service.find_batch(batch.token, batch.input_file_id)
        if known is not None:
            self._note_submitted(batch, known.id)
            return True
        with self.engine.connect() as connection:
            requests = sent_requests.open_requests(connection, batch.id)
            held = batch_leases.hold(connection, [sent for each in requests for sent in each.pages])
            connection.commit()
        if not held:
            # Calls that nobody waits for any more would only cost money.
            self._give_up(batch, requests, "its pages went to other runs before it was sent")
            return False
        file_id = batch.input_file_id or self.service.find_file(file_name(batch.token))
        self.send(batch, requests, file_id=file_id)
        return True

    def send(
        self, batch: StoredBatch, requests: Sequence[SentRequest], *, file_id: str | None = None
    ) -> None:
        """Upload the file unless it is there, and start the batch.

        Raises ConfigurationError or InvalidAnswerError when the service refuses it, after the
        pages went back to the queue; and other kinds of ProviderError when a later run is to
        try again.
        """
        try:
            file_id = file_id or self.service.upload(file_name(batch.token), file_content(requests))
            with self.engine.connect() as connection:
                is_ours = batches.note_file(connection, batch, self.run_id, file_id)
                connection.commit()
            if is_ours:
                self._note_submitted(batch, self.service.create(file_id, batch.token).id)
        except (ConfigurationError, InvalidAnswerError) as error:
            self._give_up(batch, requests, str(error))
            raise
        except ProviderError as error:
            log.warning("batch.left_for_next_run", batch=batch.id, error=str(error))
            raise

    def _note_submitted(self, batch: StoredBatch, service_batch_id: str) -> None:
        with self.engine.connect() as connection:
            batches.note_submitted(connection, batch, self.run_id, service_batch_id)
            connection.commit()
        log.info("batch.submitted", batch=batch.id, service_batch=service_batch_id)

    def _give_up(self, batch: StoredBatch, requests: Sequence[SentRequest], error: str) -> None:
        for request in requests:
            self.pages.give_back(request.pages, "not-sent")
            self.pages.settle(batch, request, "not-sent")
        with self.engine.connect() as connection:
            batches.close(connection, batch, self.run_id, state="failed", status=None, error=error)
            connection.commit()
        log.warning("batch.given_up", batch=batch.id, error=error)
