"""The ledger as a person reads it: every budget of the day, and the last calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, cast

from sqlalchemy import Connection, text

from llmwiki.domain import RunId
from llmwiki.store.ledger import BudgetLimits

CallState = Literal["settled", "in-flight", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFigures:
    """One counter of the ledger today: a budget, or a purpose's share as ``chat/compile``."""

    name: str
    day: date
    cap: int
    used: int
    free: int
    """Units that could be taken now; of a share no more than its budget has."""
    reserved_for_night: int | None
    """Of the free units those that the night's share still allows; None without a share."""
    lost: int
    """Calls whose outcome never came; they stay spent."""
    in_flight: int
    resets_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCall:
    """One HTTP attempt."""

    id: int
    budget: str
    purpose: str
    subject: str
    run_id: RunId | None
    reserved_at: datetime
    state: CallState
    outcome: str | None
    http_status: int | None
    input_tokens: int
    output_tokens: int


# A call of a run that ended, or that is older than any request may last, will not be settled.
_STATE = """
    CASE WHEN c.settled_at IS NOT NULL THEN 'settled'
         WHEN EXISTS (SELECT 1 FROM batch_request q WHERE q.call_id = c.id AND q.outcome IS NULL)
         THEN 'in-flight'
         WHEN r.finished_at IS NOT NULL OR c.reserved_at < clock_timestamp() - :patience
         THEN 'lost' ELSE 'in-flight' END
"""

_BUDGETS = f"""
WITH today AS (SELECT (clock_timestamp() AT TIME ZONE :zone)::date AS day),
calls AS (
    SELECT c.budget, c.purpose, {_STATE} AS state
    FROM today JOIN call c ON c.day = today.day LEFT JOIN run r ON r.id = c.run_id
    WHERE c.settled_at IS NULL
),
unsettled AS (
    SELECT counter,
           count(*) FILTER (WHERE state = 'lost') AS lost,
           count(*) FILTER (WHERE state = 'in-flight') AS in_flight
    FROM calls CROSS JOIN LATERAL
         (VALUES (budget), (budget || '/' || purpose)) AS counters(counter)
    GROUP BY counter
)
SELECT k.name, today.day, coalesce(b.used, 0) AS used,
       coalesce(u.lost, 0) AS lost, coalesce(u.in_flight, 0) AS in_flight,
       (today.day + 1)::timestamp AT TIME ZONE :zone AS resets_at
FROM unnest(CAST(:counters AS text[])) WITH ORDINALITY AS k(name, place)
CROSS JOIN today
LEFT JOIN budget_day b ON b.budget = k.name AND b.day = today.day
LEFT JOIN unsettled u ON u.counter = k.name
ORDER BY k.place
"""  # noqa: S608 - composed of constants

_CALLS = f"""
SELECT c.id, c.budget, c.purpose, c.subject, c.run_id, c.reserved_at, {_STATE} AS state,
       c.outcome, c.http_status, c.input_tokens, c.output_tokens
FROM call c LEFT JOIN run r ON r.id = c.run_id
ORDER BY c.id DESC
LIMIT :limit
"""  # noqa: S608 - composed of constants


def budget_figures(
    connection: Connection, limits: BudgetLimits, *, patience: timedelta
) -> list[BudgetFigures]:
    """Return how every counter stands today, in the order of the caps.

    ``patience`` is the longest that a call may take; after it one without an outcome is lost.
    """
    rows = connection.execute(
        text(_BUDGETS),
        {"counters": list(limits.caps), "zone": limits.time_zone, "patience": patience},
    ).all()
    left = {row.name: max(0, limits.caps[row.name] - row.used) for row in rows}
    free = {name: min(units, left.get(_budget_of(name), units)) for name, units in left.items()}
    return [
        BudgetFigures(
            name=row.name,
            day=row.day,
            cap=limits.caps[row.name],
            used=row.used,
            free=free[row.name],
            reserved_for_night=free.get(f"{row.name}/compile"),
            lost=row.lost,
            in_flight=row.in_flight,
            resets_at=row.resets_at,
        )
        for row in rows
    ]


def last_calls(connection: Connection, limit: int, *, patience: timedelta) -> Sequence[LedgerCall]:
    """Return the last calls of all budgets, the newest first."""
    rows = connection.execute(text(_CALLS), {"limit": limit, "patience": patience})
    return [
        LedgerCall(
            id=row.id,
            budget=row.budget,
            purpose=row.purpose,
            subject=row.subject,
            run_id=None if row.run_id is None else RunId(row.run_id),
            reserved_at=row.reserved_at,
            state=cast("CallState", row.state),
            outcome=row.outcome,
            http_status=row.http_status,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
        )
        for row in rows
    ]


def _budget_of(counter: str) -> str:
    return counter.partition("/")[0]
