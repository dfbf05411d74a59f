"""The requests of a batch: what each of them sent, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter
from sqlalchemy import Connection, insert, select, update

from llmwiki.store.batch_leases import SentPage
from llmwiki.store.batch_tables import BatchRequestTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """One request of a batch, with the unit of the ledger that was taken for it."""

    custom_id: str
    call_id: int | None
    line: str
    pages: tuple[SentPage, ...]


_PAGES = TypeAdapter(tuple[SentPage, ...])


def insert_requests(connection: Connection, batch_id: int, requests: Sequence[SentRequest]) -> None:
    """Write what a batch is about to send."""
    connection.execute(
        insert(BatchRequestTable),
        [
            {
                "batch_id": batch_id,
                "custom_id": request.custom_id,
                "call_id": request.call_id,
                "line": request.line,
                "pages": _PAGES.dump_python(request.pages, mode="json"),
                "page_count": len(request.pages),
            }
            for request in requests
        ],
    )


def open_requests(connection: Connection, batch_id: int) -> list[SentRequest]:
    """Return the requests of the batch that have no outcome yet, in the order of the file."""
    rows = connection.execute(
        select(
            BatchRequestTable.custom_id,
            BatchRequestTable.call_id,
            BatchRequestTable.line,
            BatchRequestTable.pages,
        )
        .where(BatchRequestTable.batch_id == batch_id, BatchRequestTable.outcome.is_(None))
        .order_by(BatchRequestTable.id)
    )
    return [
        SentRequest(
            custom_id=row.custom_id,
            call_id=row.call_id,
            line=row.line,
            pages=_PAGES.validate_python(row.pages),
        )
        for row in rows
    ]


def custom_ids(connection: Connection, batch_id: int) -> frozenset[str]:
    """Return the ids of all requests of the batch, those with an outcome included."""
    return frozenset(
        connection.scalars(
            select(BatchRequestTable.custom_id).where(BatchRequestTable.batch_id == batch_id)
        )
    )


def finish_request(
    connection: Connection, batch_id: int, request: SentRequest, outcome: str
) -> None:
    """Note what came of a request, and let go of what was sent."""
    connection.execute(
        update(BatchRequestTable)
        .where(
            BatchRequestTable.batch_id == batch_id,
            BatchRequestTable.custom_id == request.custom_id,
        )
        .values(outcome=outcome, line="", pages=[])
    )
