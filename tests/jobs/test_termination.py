"""A signal in the middle of a statement ends the program cleanly, whatever the statement is."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, text

from jobs import exit_codes, runner
from jobs.runner import JobContext, JobOptions, JobResult, Terminated, run_job, unwind_on_sigterm
from tests.support.wiki import Wiki

SLOW = "SELECT pg_sleep(20) /* interrupted */"
SIGNALS = [(signal.SIGTERM, exit_codes.TERMINATED), (signal.SIGINT, exit_codes.INTERRUPTED)]


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    unwind_on_sigterm()
    yield
    signal.signal(signal.SIGTERM, before)


def interrupt_when_busy(engine: Engine, number: int) -> None:
    """Send the signal to this process when the server works on the slow statement."""

    def wait_and_send() -> None:
        query = text(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE :slow"
        )
        # What the server tells of its activity stays the same within a transaction.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.execute(query, {"slow": f"{SLOW}%"}).scalar_one():
                time.sleep(0.01)
        os.kill(os.getpid(), number)

    threading.Thread(target=wait_and_send, daemon=True).start()


@pytest.mark.parametrize(("number", "_code"), SIGNALS)
def test_a_statement_outside_of_a_transaction_is_cancelled_and_its_connection_given_back(
    engine: Engine, number: int, _code: int, caplog: pytest.LogCaptureFixture
) -> None:
    interrupt_when_busy(engine, number)
    expected = Terminated if number == signal.SIGTERM else KeyboardInterrupt

    with pytest.raises(expected):  # noqa: SIM117 - the whole of the block is interrupted
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(SLOW))

    assert caplog.messages == []
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1


@pytest.mark.parametrize(("number", "_code"), SIGNALS)
def test_the_look_whether_a_connection_is_alive_ends_with_the_signal_and_no_other_error(
    database_url: str, engine: Engine, number: int, _code: int
) -> None:
    looking = create_engine(database_url, pool_pre_ping=True)
    looking.connect().close()
    looking.dialect._dialect_specific_select_one = SLOW  # type: ignore[attr-defined]
    interrupt_when_busy(engine, number)

    with pytest.raises(KeyboardInterrupt):
        looking.connect()

    looking.dispose()


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_the_run_is_closed_with_the_code_of_the_signal(wiki: Wiki, number: int, code: int) -> None:
    def body(context: JobContext) -> JobResult:
        interrupt_when_busy(wiki.engine, number)
        with context.app.engine.connect() as connection:
            connection.execute(text(SLOW))
        raise AssertionError

    with pytest.raises(KeyboardInterrupt):
        run_job(wiki.app, "slow", JobOptions(collections=()), body)

    assert wiki.rows("SELECT exit_code FROM run WHERE job = 'slow'") == [(code,)]


def test_a_log_that_nobody_reads_any_more_leaves_no_run_open(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki.ingest({"a.md": "# A\n\nA sentence of some length.\n"})

    def closed(*_arguments: object, **_values: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(runner.log, "info", closed)
    with pytest.raises(BrokenPipeError):
        wiki.sweep()
    monkeypatch.undo()

    assert wiki.rows("SELECT count(*) FROM run WHERE finished_at IS NULL") == [(0,)]
    assert wiki.sweep().exit_code == exit_codes.DONE
