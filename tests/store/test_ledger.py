from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, text

from llmwiki.errors import BudgetExhaustedError
from llmwiki.store.ledger import BudgetLimits, LedgerMeter, budget_state


def limits(chat: int = 20, compile_share: int = 15, time_zone: str = "UTC") -> BudgetLimits:
    return BudgetLimits(
        caps={"chat": chat, "chat/compile": compile_share, "embed": 5}, time_zone=time_zone
    )


def spend(meter: LedgerMeter, calls: int, purpose: str = "question") -> int:
    spent = 0
    for _ in range(calls):
        try:
            with meter.attempt("chat", purpose) as attempt:  # type: ignore[arg-type]
                spent += 1
                attempt.settle("ok", http_status=200, input_tokens=3, output_tokens=2)
        except BudgetExhaustedError:
            break
    return spent


def test_the_cap_of_the_day_is_never_exceeded_by_many_takers(engine: Engine) -> None:
    meters = [LedgerMeter(engine=engine, limits=limits()) for _ in range(8)]
    with ThreadPoolExecutor(8) as takers:
        spent = sum(takers.map(lambda meter: spend(meter, 10), meters))
    assert spent == 20


def test_the_night_has_its_share_and_leaves_the_rest_to_questions(engine: Engine) -> None:
    meter = LedgerMeter(engine=engine, limits=limits())
    assert spend(meter, 99, "compile") == 15
    assert spend(meter, 99, "question") == 5


def test_a_refusal_by_the_share_takes_nothing_from_the_budget(engine: Engine) -> None:
    meter = LedgerMeter(engine=engine, limits=limits(compile_share=0))
    assert spend(meter, 3, "compile") == 0
    with engine.connect() as connection:
        assert budget_state(connection, "chat", meter.limits).used == 0


def test_a_cap_of_zero_refuses_the_first_call(engine: Engine) -> None:
    with (
        pytest.raises(BudgetExhaustedError, match="0 of 0"),
        LedgerMeter(engine=engine, limits=limits(chat=0)).attempt("chat", "question"),
    ):
        pytest.fail("the block must not be entered")


def test_a_run_can_be_capped_below_the_day(engine: Engine) -> None:
    meter = LedgerMeter(engine=engine, limits=limits(), run_caps={"chat": 2})
    assert spend(meter, 9) == 2


def test_a_call_that_crashes_stays_spent_and_shows_as_unsettled(engine: Engine) -> None:
    meter = LedgerMeter(engine=engine, limits=limits())
    with pytest.raises(RuntimeError), meter.attempt("chat", "compile", subject="page"):
        raise RuntimeError
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT subject, settled_at, outcome FROM call")).all()
        assert [tuple(row) for row in rows] == [("page", None, None)]
        assert budget_state(connection, "chat", meter.limits).used == 1


def test_the_unit_is_committed_before_the_call_is_made(engine: Engine) -> None:
    meter = LedgerMeter(engine=engine, limits=limits())
    with meter.attempt("chat", "question"), engine.connect() as other:
        assert budget_state(other, "chat", meter.limits).used == 1


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Kolkata"])
def test_the_budget_returns_at_midnight_where_the_provider_is(engine: Engine, zone: str) -> None:
    with engine.connect() as connection:
        state = budget_state(connection, "chat", limits(time_zone=zone))
    local = state.resets_at.astimezone(ZoneInfo(zone))
    today = datetime.now(ZoneInfo(zone)).date()
    assert (local.hour, local.minute) == (0, 0)
    assert local.date() == today + timedelta(days=1)
    assert state.day == today.isoformat()
