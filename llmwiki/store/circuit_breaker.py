"""A circuit breaker that the ledger holds: a service that failed in a row rests for a while.

The last calls tell all that is needed, so the breaker is the same for every process, one that
asks a single question among them. Time is the database's.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

# A call that was never settled failed when it is older than anybody waits; a younger one is in
# flight. What a service refuses by itself (a bad key, a text too long) is not the service failing.
_LAST = """
WITH known AS (
    SELECT id, coalesce(settled_at, reserved_at) AS at,
           settled_at IS NULL AND reserved_at > clock_timestamp() - CAST(:patience AS interval)
               AS in_flight,
           settled_at IS NULL OR outcome <> 'answered' AND
               (http_status IS NULL OR http_status IN (408, 429) OR http_status >= 500) AS failed
    FROM call
    WHERE budget = :budget AND day >= current_date - 2 AND starts_with(subject, :subject)
),
last AS (SELECT * FROM known WHERE NOT in_flight ORDER BY id DESC LIMIT :threshold)
SELECT max(at) + CAST(:cool_down AS interval) AS cooled_at,
       (SELECT max(at) + CAST(:patience AS interval) FROM known WHERE in_flight) AS tried_until,
       clock_timestamp() AS now
FROM last
HAVING count(*) = :threshold AND bool_and(failed)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    """When a service is left alone."""

    threshold: int
    """Failures in a row."""
    cool_down: timedelta
    """After the last of them; then one call tries, and its failure begins the time anew. Without
    it a service is always asked."""
    patience: timedelta
    """How long a call may take; one that was not settled by then failed."""


def resting_until(
    connection: Connection, budget: str, subject: str, limits: BreakerLimits
) -> datetime | None:
    """Return until when a service is to be left alone; None where it may be asked.

    The service is known by how the subjects of its calls begin. After the cool-down one call at
    a time may try: while it is in flight, the others wait for what comes of it.
    """
    if limits.cool_down <= timedelta(0):
        return None
    row = connection.execute(
        text(_LAST),
        {
            "budget": budget,
            "subject": subject,
            "threshold": limits.threshold,
            "cool_down": limits.cool_down,
            "patience": limits.patience,
        },
    ).one_or_none()
    if row is None:
        return None
    until: datetime | None = row.cooled_at if row.cooled_at > row.now else row.tried_until
    return until
