"""The ledger of calls: units taken before a request is sent, and never given back.

A budget counts by the provider's day, which the database's clock tells in the provider's time
zone. A purpose may have a share of a budget (the night's fifteen of twenty); it is a second
counter that is raised in the same transaction, so both caps hold or the call is refused.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from sqlalchemy import Connection, Engine, text

from llmwiki.domain import BudgetState, RunId
from llmwiki.errors import BudgetExhaustedError
from llmwiki.ports import CallPurpose

_TODAY = "SELECT (clock_timestamp() AT TIME ZONE :zone)::date"

# One statement, so that no two takers can both see the last unit. `WHERE` refuses the first
# unit of a cap of zero, which has no row to conflict with.
_TAKE = """
INSERT INTO budget_day AS b (budget, day, used)
SELECT :budget, :day, 1 WHERE :cap > 0
ON CONFLICT (budget, day) DO UPDATE SET used = b.used + 1 WHERE b.used < :cap
RETURNING used
"""

_OPEN_CALL = """
INSERT INTO call (budget, day, purpose, subject, run_id)
VALUES (:budget, :day, :purpose, :subject, :run)
RETURNING id
"""

_SETTLE = """
UPDATE call
SET settled_at = clock_timestamp(), outcome = :outcome, http_status = :http_status,
    input_tokens = :input_tokens, output_tokens = :output_tokens
WHERE id = :call
"""

_STATE = """
SELECT coalesce((SELECT used FROM budget_day WHERE budget = :budget AND day = :day), 0) AS used,
       (CAST(:day AS date) + 1)::timestamp AT TIME ZONE :zone AS resets_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """Caps by counter (``chat``, ``embed``, or a share as ``chat/compile``) and the calendar."""

    caps: Mapping[str, int]
    time_zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAttempt:
    """One unit that was taken; settling it adds what came of the call."""

    engine: Engine
    call_id: int

    def settle(
        self,
        outcome: str,
        *,
        http_status: int | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Record the outcome of the call."""
        with self.engine.connect() as connection:
            connection.execute(
                text(_SETTLE),
                {
                    "call": self.call_id,
                    "outcome": outcome,
                    "http_status": http_status,
                    "input_tokens": input_tokens,
                    "output_tokens": output_tokens,
                },
            )
            connection.commit()


@dataclass(slots=True, kw_only=True)
class LedgerMeter:
    """The ledger for the providers of one process (the CallMeter port)."""

    engine: Engine
    limits: BudgetLimits
    run_id: RunId | None = None
    run_caps: dict[str, int] = field(default_factory=dict)
    """Most units of a budget that the run may take, beside the caps of the day."""
    taken: dict[str, int] = field(default_factory=dict)

    def begin_run(self, run_id: RunId, caps: Mapping[str, int]) -> None:
        """Book the calls from now on upon a run, which may take so many units at most."""
        self.run_id = run_id
        self.run_caps = dict(caps)
        self.taken = {}

    @contextmanager
    def attempt(
        self, budget: str, purpose: CallPurpose, *, subject: str = ""
    ) -> Iterator[LedgerAttempt]:
        """Take one unit, committed, before the block; see the port for the contract."""
        if self.taken.get(budget, 0) >= self.run_caps.get(budget, self.limits.caps[budget] + 1):
            raise BudgetExhaustedError(
                f"this run may spend {self.run_caps[budget]} {budget} calls, and has"
            )
        with self.engine.connect() as connection:
            day = self._take(connection, budget, purpose)
            call_id = connection.execute(
                text(_OPEN_CALL),
                {
                    "budget": budget,
                    "day": day,
                    "purpose": purpose,
                    "subject": subject,
                    "run": self.run_id,
                },
            ).scalar_one()
            connection.commit()
        self.taken[budget] = self.taken.get(budget, 0) + 1
        yield LedgerAttempt(engine=self.engine, call_id=call_id)

    def _take(self, connection: Connection, budget: str, purpose: CallPurpose) -> date:
        """Raise the counters of the budget and of the purpose's share, or neither."""
        day: date = connection.execute(text(_TODAY), {"zone": self.limits.time_zone}).scalar_one()
        for counter in (budget, f"{budget}/{purpose}"):
            cap = self.limits.caps.get(counter)
            if cap is None:
                continue
            used = connection.execute(
                text(_TAKE), {"budget": counter, "day": day, "cap": cap}
            ).scalar_one_or_none()
            if used is None:
                state = budget_state(connection, counter, self.limits)
                raise BudgetExhaustedError(
                    f"budget {counter}: {cap} of {cap} calls are spent until {state.resets_at}",
                    resets_at=state.resets_at,
                )
        return day


def budget_state(connection: Connection, counter: str, limits: BudgetLimits) -> BudgetState:
    """Return how a counter stands today."""
    day: date = connection.execute(text(_TODAY), {"zone": limits.time_zone}).scalar_one()
    row = connection.execute(
        text(_STATE), {"budget": counter, "day": day, "zone": limits.time_zone}
    ).one()
    return BudgetState(
        name=counter,
        day=day.isoformat(),
        used=row.used,
        cap=limits.caps[counter],
        resets_at=row.resets_at,
    )
