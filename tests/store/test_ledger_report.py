from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import RunId
from llmwiki.ports import CallPurpose
from llmwiki.store import runs
from llmwiki.store.ledger import BudgetLimits, LedgerMeter
from llmwiki.store.ledger_report import (
    BudgetFigures,
    LedgerCall,
    budget_figures,
    last_calls,
)

PATIENCE = timedelta(minutes=4)
LIMITS = BudgetLimits(caps={"chat": 5, "chat/compile": 3, "embed": 9}, time_zone="US/Pacific")


@pytest.fixture
def meter(engine: Engine) -> LedgerMeter:
    return LedgerMeter(engine=engine, limits=LIMITS)


def call(meter: LedgerMeter, budget: str, purpose: CallPurpose, *, settle: bool = True) -> None:
    with meter.attempt(budget, purpose, subject="guide/pump") as attempt:
        if settle:
            attempt.settle("answered", http_status=200, input_tokens=30, output_tokens=7)


def figures(engine: Engine) -> dict[str, BudgetFigures]:
    with engine.connect() as connection:
        found = budget_figures(connection, LIMITS, patience=PATIENCE)
    assert [each.name for each in found] == list(LIMITS.caps)
    return {each.name: each for each in found}


def calls(engine: Engine, limit: int = 10) -> list[LedgerCall]:
    with engine.connect() as connection:
        return list(last_calls(connection, limit, patience=PATIENCE))


def test_an_untouched_ledger_is_all_free(engine: Engine) -> None:
    chat = figures(engine)["chat"]
    assert (chat.used, chat.free, chat.reserved_for_night, chat.lost) == (0, 5, 3, 0)
    assert calls(engine) == []


def test_every_counter_tells_what_is_used_and_free(engine: Engine, meter: LedgerMeter) -> None:
    call(meter, "chat", "compile")
    call(meter, "chat", "question")
    call(meter, "embed", "embed")
    found = figures(engine)
    assert {name: (each.cap, each.used, each.free) for name, each in found.items()} == {
        "chat": (5, 2, 3),
        "chat/compile": (3, 1, 2),
        "embed": (9, 1, 8),
    }
    assert found["chat"].reserved_for_night == 2
    assert found["embed"].reserved_for_night is None


def test_the_night_has_no_more_than_the_day_left_it(engine: Engine, meter: LedgerMeter) -> None:
    for _ in range(4):
        call(meter, "chat", "question")
    found = figures(engine)
    assert (found["chat"].free, found["chat"].reserved_for_night) == (1, 1)
    assert found["chat/compile"].free == 1


def test_the_day_ends_at_midnight_of_the_provider(engine: Engine) -> None:
    ends = figures(engine)["chat"].resets_at.astimezone(ZoneInfo("US/Pacific"))
    assert (ends.hour, ends.minute) == (0, 0)


def test_a_call_without_an_outcome_is_in_flight_until_no_answer_can_come(
    engine: Engine, meter: LedgerMeter
) -> None:
    call(meter, "chat", "compile", settle=False)
    call(meter, "chat", "question", settle=False)
    call(meter, "chat", "compile")
    chat = figures(engine)["chat"]
    assert (chat.in_flight, chat.lost) == (2, 0)
    with engine.begin() as connection:
        connection.execute(text("UPDATE call SET reserved_at = reserved_at - interval '5 minutes'"))
    found = figures(engine)
    assert (found["chat"].in_flight, found["chat"].lost, found["chat"].used) == (0, 2, 3)
    assert found["chat/compile"].lost == 1
    assert [each.state for each in calls(engine)] == ["settled", "lost", "lost"]


def test_a_call_of_a_run_that_ended_is_lost_at_once(engine: Engine, meter: LedgerMeter) -> None:
    with engine.begin() as connection:
        run_id: RunId = runs.start_run(connection, "drain", {}, lease=timedelta(minutes=1))
    meter.begin_run(run_id, {})
    call(meter, "chat", "compile", settle=False)
    assert figures(engine)["chat"].in_flight == 1
    with engine.begin() as connection:
        runs.finish_run(connection, run_id, 143)
    assert figures(engine)["chat"].lost == 1


def test_the_last_calls_come_first(engine: Engine, meter: LedgerMeter) -> None:
    for _ in range(3):
        call(meter, "chat", "compile")
    call(meter, "embed", "embed")
    newest, before = calls(engine, 2)
    assert (newest.budget, newest.purpose, newest.subject) == ("embed", "embed", "guide/pump")
    assert (before.outcome, before.http_status) == ("answered", 200)
    assert (before.input_tokens, before.output_tokens) == (30, 7)
    assert newest.id > before.id


def test_a_unit_of_a_running_batch_is_in_flight_and_not_lost(
    engine: Engine, meter: LedgerMeter
) -> None:
    call(meter, "chat", "compile", settle=False)
    with engine.connect() as connection:
        connection.execute(
            text(
                """WITH b AS (INSERT INTO batch (token, collection_ids, service, generator, state)
                              VALUES ('t', '{}', 's', '{}', 'submitted') RETURNING id)
                   INSERT INTO batch_request (batch_id, custom_id, call_id, line, pages, page_count)
                   SELECT b.id, 'c', call.id, '', '[]', 1 FROM b, call"""
            )
        )
        connection.execute(text("UPDATE call SET reserved_at = now() - interval '1 hour'"))
        connection.commit()
    chat = figures(engine)["chat"]
    assert (chat.in_flight, chat.lost) == (1, 0)
    assert [each.state for each in calls(engine)] == ["in-flight"]
