"""Runs of jobs, their records and findings, and the lease that keeps a second run out."""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, insert, select, text, update

from llmwiki.domain import CollectionId, Finding, PageId, Record, RunId
from llmwiki.errors import RunLockedError
from llmwiki.store.job_tables import FindingTable, RecordTable, RunTable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with the run that wrote it."""

    run_id: RunId
    job: str
    record: Record
    created_at: datetime


# Taking over is allowed when the lease ran out, or when its run has ended without giving it back.
_TAKE_LEASE = """
INSERT INTO job_lease AS l (job, run_id, expires_at)
VALUES (:job, :run, clock_timestamp() + :ttl)
ON CONFLICT (job) DO UPDATE
SET run_id = excluded.run_id, expires_at = excluded.expires_at
WHERE l.expires_at <= clock_timestamp()
   OR EXISTS (SELECT 1 FROM run r WHERE r.id = l.run_id AND r.finished_at IS NOT NULL)
RETURNING run_id
"""


def start_run(
    connection: Connection, job: str, arguments: Mapping[str, Any], *, lease: timedelta
) -> RunId:
    """Insert the run and take the job's lease, for the caller to commit at once.

    Raises RunLockedError with the id of the run that is alive.
    """
    run_id = connection.execute(
        insert(RunTable)
        .values(
            job=job,
            arguments=dict(arguments),
            host=socket.gethostname(),
            process_id=os.getpid(),
        )
        .returning(RunTable.id)
    ).scalar_one()
    taken = connection.execute(
        text(_TAKE_LEASE), {"job": job, "run": run_id, "ttl": lease}
    ).scalar_one_or_none()
    if taken is None:
        holder = connection.execute(
            text("SELECT run_id FROM job_lease WHERE job = :job"), {"job": job}
        ).scalar_one()
        raise RunLockedError(job, holder)
    return RunId(run_id)


def heartbeat(connection: Connection, run_id: RunId, *, lease: timedelta) -> None:
    """Show that the run is alive, and keep its lease."""
    connection.execute(
        update(RunTable).where(RunTable.id == run_id).values(heartbeat_at=func.clock_timestamp())
    )
    connection.execute(
        text("UPDATE job_lease SET expires_at = clock_timestamp() + :ttl WHERE run_id = :run"),
        {"run": run_id, "ttl": lease},
    )


def finish_run(connection: Connection, run_id: RunId, exit_code: int) -> None:
    """Record the end of the run, and give its lease back."""
    connection.execute(
        update(RunTable)
        .where(RunTable.id == run_id)
        .values(finished_at=func.clock_timestamp(), exit_code=exit_code)
    )
    connection.execute(text("DELETE FROM job_lease WHERE run_id = :run"), {"run": run_id})


def add_records(connection: Connection, run_id: RunId, records: Iterable[Record]) -> None:
    """Append records to the run."""
    rows = [
        {
            "run_id": run_id,
            "kind": record.kind,
            "collection_id": record.collection_id,
            "page_id": record.page_id,
            "payload": dict(record.payload),
        }
        for record in records
    ]
    if rows:
        connection.execute(insert(RecordTable), rows)


def add_findings(connection: Connection, run_id: RunId, findings: Iterable[Finding]) -> None:
    """Append lint findings to the run."""
    rows = [
        {
            "run_id": run_id,
            "collection_id": finding.collection_id,
            "page_id": finding.page_id,
            "code": finding.code,
            "severity": finding.severity,
            "message": finding.message,
        }
        for finding in findings
    ]
    if rows:
        connection.execute(insert(FindingTable), rows)


def latest_records(
    connection: Connection, *, kind: str | None = None, limit: int = 20
) -> list[StoredRecord]:
    """Return the newest records, newest first."""
    query = (
        select(RecordTable, RunTable.job)
        .join(RunTable, RunTable.id == RecordTable.run_id)
        .order_by(RecordTable.id.desc())
        .limit(limit)
    )
    if kind is not None:
        query = query.where(RecordTable.kind == kind)
    return [
        StoredRecord(
            run_id=RunId(row["run_id"]),
            job=row["job"],
            record=Record(
                kind=row["kind"],
                payload=row["payload"],
                collection_id=_optional(CollectionId, row["collection_id"]),
                page_id=_optional(PageId, row["page_id"]),
            ),
            created_at=row["created_at"],
        )
        for row in connection.execute(query).mappings()
    ]


def _optional(make: Any, value: int | None) -> Any:  # noqa: ANN401 - a NewType or None
    return None if value is None else make(value)
