"""Batches of requests at a service: who works on each, and what became of it as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import Connection, func, insert, text, update

from llmwiki.domain import Collection, GeneratorIdentity, RunId
from llmwiki.store.batch_leases import hold
from llmwiki.store.batch_tables import BatchTable
from llmwiki.store.sent_requests import SentRequest, insert_requests

_DEAD_AFTER = timedelta(minutes=5)
"""A run whose heart has not beaten for so long works on nothing any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBatch:
    """A batch that is not finished."""

    id: int
    token: str
    service: str
    generator: GeneratorIdentity
    input_file_id: str | None
    service_batch_id: str | None
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCounts:
    """What is out at the service, or about to be."""

    batches: int
    requests: int
    pages: int


# A batch over collections of which some were not selected is left to a run over all of them;
# one that is gone altogether keeps nobody.
_IN_SCOPE = """
    b.finished_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM collection c
        WHERE c.id = ANY(b.collection_ids) AND c.id <> ALL(:collections)
    )
"""

_CLAIM = f"""
UPDATE batch b SET worker_run_id = :run
WHERE {_IN_SCOPE} AND b.state = :state
  AND (b.worker_run_id IS NULL OR b.worker_run_id = :run OR EXISTS (
      SELECT 1 FROM run r
      WHERE r.id = b.worker_run_id
        AND (r.finished_at IS NOT NULL OR r.heartbeat_at < clock_timestamp() - :dead_after)
  ))
RETURNING b.id, b.token, b.service, b.generator, b.input_file_id, b.service_batch_id,
          clock_timestamp() - b.created_at AS age
"""  # noqa: S608 - composed of constants

_COUNT = f"""
SELECT count(DISTINCT b.id) AS batches, count(*) AS requests,
       coalesce(sum(q.page_count), 0) AS pages
FROM batch b JOIN batch_request q ON q.batch_id = b.id
WHERE {_IN_SCOPE} AND q.outcome IS NULL
"""  # noqa: S608 - composed of constants


def create(
    connection: Connection,
    run_id: RunId,
    *,
    token: str,
    service: str,
    generator: GeneratorIdentity,
    requests: Sequence[SentRequest],
) -> StoredBatch:
    """Write a batch that is about to be sent, and keep its pages for the time that it takes."""
    pages = [sent for request in requests for sent in request.pages]
    batch_id = connection.execute(
        insert(BatchTable)
        .values(
            token=token,
            collection_ids=sorted({sent.page.topic.collection_id for sent in pages}),
            worker_run_id=run_id,
            service=service,
            generator=asdict(generator),
            state="submitting",
        )
        .returning(BatchTable.id)
    ).scalar_one()
    insert_requests(connection, batch_id, requests)
    hold(connection, pages)
    return StoredBatch(
        id=batch_id,
        token=token,
        service=service,
        generator=generator,
        input_file_id=None,
        service_batch_id=None,
        age=timedelta(),
    )


def claim(
    connection: Connection,
    run_id: RunId,
    collections: Iterable[Collection],
    state: Literal["submitting", "submitted"],
) -> list[StoredBatch]:
    """Take the open batches of that state that no run alive works on; for the caller to commit.

    Two runs that adopt the same batch would both send it.
    """
    rows = connection.execute(
        text(_CLAIM),
        {
            "run": run_id,
            "collections": [collection.id for collection in collections],
            "state": state,
            "dead_after": _DEAD_AFTER,
        },
    )
    return sorted(map(_stored, rows), key=lambda batch: batch.id)


def note_file(connection: Connection, batch: StoredBatch, run_id: RunId, file_id: str) -> bool:
    """Keep the id of the uploaded file. False: another run has the batch; send no more of it."""
    return _update(connection, batch, run_id, input_file_id=file_id)


def note_submitted(
    connection: Connection, batch: StoredBatch, run_id: RunId, service_batch_id: str
) -> bool:
    """Keep the service's id of the batch, which from now on waits to be collected."""
    return _update(connection, batch, run_id, service_batch_id=service_batch_id, state="submitted")


def close(
    connection: Connection,
    batch: StoredBatch,
    run_id: RunId,
    *,
    state: Literal["collected", "failed"],
    status: str | None,
    error: str,
) -> bool:
    """Finish a batch, all of whose requests have an outcome."""
    return _update(
        connection,
        batch,
        run_id,
        state=state,
        service_status=status,
        error=error or None,
        finished_at=func.clock_timestamp(),
    )


def count_open(connection: Connection, collections: Iterable[Collection]) -> OpenCounts:
    """Count what has no outcome yet."""
    row = connection.execute(
        text(_COUNT), {"collections": [collection.id for collection in collections]}
    ).one()
    return OpenCounts(batches=row.batches, requests=row.requests, pages=int(row.pages))


def _update(connection: Connection, batch: StoredBatch, run_id: RunId, **values: object) -> bool:
    changed = connection.execute(
        update(BatchTable)
        .where(BatchTable.id == batch.id, BatchTable.worker_run_id == run_id)
        .values(**values)
        .returning(BatchTable.id)
    )
    return changed.scalar_one_or_none() is not None


def _stored(row: Any) -> StoredBatch:  # noqa: ANN401 - a row of a textual query has no type
    return StoredBatch(
        id=row.id,
        token=row.token,
        service=row.service,
        generator=GeneratorIdentity(**row.generator),
        input_file_id=row.input_file_id,
        service_batch_id=row.service_batch_id,
        age=row.age,
    )
