import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, text

from jobs.schedule import changes_clocks, is_missed, parse_schedule
from jobs.scheduler import NightRunner
from llmwiki.errors import ConfigurationError

MONDAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "following"),
    [
        ("0 2 * * *", datetime(2026, 3, 3, 2, 0, tzinfo=UTC)),
        ("30 5 * * 0", datetime(2026, 3, 8, 5, 30, tzinfo=UTC)),
        ("30 5 * * 7", datetime(2026, 3, 8, 5, 30, tzinfo=UTC)),
        ("30 5 * * 1", datetime(2026, 3, 9, 5, 30, tzinfo=UTC)),
        ("30 5 * * Tue", datetime(2026, 3, 3, 5, 30, tzinfo=UTC)),
        ("30 5 * * 5-7", datetime(2026, 3, 6, 5, 30, tzinfo=UTC)),
        ("30 5 * * sat-sun", datetime(2026, 3, 7, 5, 30, tzinfo=UTC)),
        ("30 5 * * 0-2/2", datetime(2026, 3, 3, 5, 30, tzinfo=UTC)),
        ("*/20 * * * *", datetime(2026, 3, 2, 12, 0, tzinfo=UTC)),
        ("0 2 1 * *", datetime(2026, 4, 1, 2, 0, tzinfo=UTC)),
    ],
)
def test_a_crontab_line_means_what_cron_means(expression: str, following: datetime) -> None:
    assert parse_schedule(expression, "UTC").next_after(MONDAY) == following


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 2 * *", "five fields"),
        ("@daily", "five fields"),
        ("0 2 1 * 1", "a day of the month and a weekday"),
        ("61 2 * * *", "61"),
        ("0 25 * * *", "25"),
        ("0 x * * *", "x"),
        ("0 2 * * 8", "weekday '8'"),
        ("0 2 * * 3-1", "weekday '3-1'"),
        ("0 2 * * */0", "weekday"),
        ("0 2 31 2 *", "never comes"),
    ],
)
def test_a_line_that_is_not_clear_is_refused(expression: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=r"schedule\.nightly") as caught:
        parse_schedule(expression, "UTC")
    assert words in str(caught.value)


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Mars/Olympus"):
        parse_schedule("0 2 * * *", "Mars/Olympus")


@pytest.mark.parametrize(
    ("expression", "zone", "warned"),
    [
        ("0 2 * * *", "UTC", False),
        ("0 2 * * *", "Europe/Berlin", True),
        ("0 0 * * *", "US/Pacific", True),
        ("59 3 * * *", "Europe/Berlin", True),
        ("0 */2 * * *", "Europe/Berlin", True),
        ("0 4 * * *", "Europe/Berlin", False),
        ("0 2 * * *", "Asia/Tokyo", False),
    ],
)
def test_hours_in_which_clocks_change_are_warned_of(
    expression: str, zone: str, warned: bool
) -> None:
    assert (parse_schedule(expression, zone).warning is not None) is warned


def test_zones_that_change_their_clocks_are_known() -> None:
    assert changes_clocks(ZoneInfo("America/New_York"), MONDAY)
    assert not changes_clocks(ZoneInfo("Asia/Kolkata"), MONDAY)


@pytest.mark.parametrize(
    ("expression", "last"),
    [
        ("0 2 * * *", datetime(2026, 3, 2, 2, 0, tzinfo=UTC)),
        ("0 12 * * *", MONDAY),
        ("*/10 * * * *", MONDAY),
        ("0 2 1 * *", datetime(2026, 3, 1, 2, 0, tzinfo=UTC)),
        ("0 2 24 12 *", datetime(2025, 12, 24, 2, 0, tzinfo=UTC)),
        ("0 2 29 2 *", None),
    ],
)
def test_the_last_fire_time_is_found(expression: str, last: datetime | None) -> None:
    assert parse_schedule(expression, "UTC").last_before(MONDAY) == last


def test_a_night_is_missed_when_none_began_since_it_was_due() -> None:
    due = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
    assert is_missed(due, None)
    assert is_missed(due, due - timedelta(hours=24))
    assert not is_missed(due, due)
    assert not is_missed(due, due + timedelta(hours=1))
    assert not is_missed(None, None)


def test_a_runner_waits_for_its_child(tmp_path: Path) -> None:
    done = tmp_path / "done"
    script = f"import pathlib, sys; pathlib.Path({str(done)!r}).touch(); sys.exit(7)"
    NightRunner(command=(sys.executable, "-c", script)).run()
    assert done.exists()


def test_a_runner_that_was_stopped_starts_no_night(tmp_path: Path) -> None:
    done = tmp_path / "done"
    runner = NightRunner(
        command=(sys.executable, "-c", f"import pathlib; pathlib.Path({str(done)!r}).touch()")
    )
    runner.stop()
    runner.run()
    assert not done.exists()


@contextmanager
def scheduler(database_url: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {
        "LLMWIKI_DATABASE_URL": database_url,
        "LLMWIKI_EMBEDDER__PROVIDER": "hashing",
        # Never due while a test runs, and due within the last year.
        "LLMWIKI_SCHEDULE__NIGHTLY": f"0 0 {(datetime.now(UTC) - timedelta(days=3)):%d %m} *",
    }
    log = tmp_path / "log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "jobs.scheduler"],
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=environment,
        ) as process,
    ):
        yield process
        process.kill()


def wait_for(tmp_path: Path, event: str) -> str:
    for _ in range(300):
        log = (tmp_path / "log").read_text()
        if event in log:
            return log
        time.sleep(0.1)
    raise AssertionError(log)


def nights(engine: Engine) -> list[int | None]:
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT exit_code FROM run WHERE job = 'nightly'"))
        return list(rows.scalars())


def test_a_missed_night_is_caught_up_and_sigterm_ends_the_scheduler(
    database_url: str, engine: Engine, tmp_path: Path
) -> None:
    with scheduler(database_url, tmp_path) as process:
        log = wait_for(tmp_path, "scheduler.night_finished")
        assert "catching_up=True" in log
        assert nights(engine) == [0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    with scheduler(database_url, tmp_path) as process:
        assert "catching_up=False" in wait_for(tmp_path, "scheduler.started")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    assert nights(engine) == [0]


def test_sigterm_reaches_a_running_night_and_waits_for_its_end(
    database_url: str, engine: Engine, tmp_path: Path
) -> None:
    with engine.connect() as blocker, scheduler(database_url, tmp_path) as process:
        # The night waits for this lock, in the middle of its sweep.
        blocker.execute(text("LOCK TABLE collection IN ACCESS EXCLUSIVE MODE"))
        wait_for(tmp_path, "scheduler.night_started")
        for _ in range(300):
            with engine.connect() as connection:
                waiting = connection.execute(
                    text("SELECT count(*) FROM pg_locks WHERE NOT granted")
                ).scalar_one()
            if waiting:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        log = wait_for(tmp_path, "scheduler.stopping")
        assert "signal=SIGTERM" in log
        blocker.rollback()
        assert process.wait(timeout=30) == 0
    log = (tmp_path / "log").read_text()
    assert "scheduler.night_finished" in log
    assert "exit_code=143" in log
