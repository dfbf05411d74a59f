"""The last run of each job: when it began, how it ended, and whether it died."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from llmwiki.domain import RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """One run of a job."""

    id: RunId
    job: str
    started_at: datetime
    finished_at: datetime | None
    duration: timedelta
    """Until its end, or until now."""
    exit_code: int | None
    dead: bool
    """It has neither an end nor a recent heartbeat: killed, or its host is gone."""


_LAST_RUNS = """
SELECT DISTINCT ON (job) id, job, started_at, finished_at, exit_code,
       coalesce(finished_at, clock_timestamp()) - started_at AS duration,
       finished_at IS NULL AND heartbeat_at < clock_timestamp() - CAST(:silence AS interval)
         AS dead
FROM run
WHERE {which}
ORDER BY job, id DESC
"""


def last_runs(connection: Connection, *, silence: timedelta) -> list[RunStatus]:
    """Return the last run of each job; one without a heartbeat for so long is dead."""
    rows = connection.execute(text(_LAST_RUNS.format(which="true")), {"silence": silence})
    return [_run(row) for row in rows.mappings()]


def last_success(
    connection: Connection, job: str, exit_codes: Sequence[int], *, silence: timedelta
) -> RunStatus | None:
    """Return the last run of the job that ended with one of the codes."""
    statement = _LAST_RUNS.format(which="job = :job AND exit_code = ANY(:codes)")
    row = connection.execute(
        text(statement), {"job": job, "codes": list(exit_codes), "silence": silence}
    )
    found = row.mappings().one_or_none()
    return _run(found) if found else None


def _run(row: RowMapping) -> RunStatus:
    values: dict[str, Any] = dict(row)
    return RunStatus(**values)
