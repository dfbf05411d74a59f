"""The resident scheduler: an option beside cron. Runs the night as a child process.

A child's exit code is seen, which inside this process would be swallowed, and a night that
crashes cannot take the scheduler along. A night that was missed while nothing ran is caught up
at the start. Run it as ``python -m jobs.scheduler`` or ``llmwiki schedule``.
"""

import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import SimpleQueue

import structlog
import typer
from apscheduler.schedulers.background import BackgroundScheduler

from jobs import exit_codes, nightly
from jobs.entry import guarded
from jobs.runner import LEASE
from jobs.schedule import is_missed, parse_schedule
from llmwiki.bootstrap import App
from llmwiki.store import run_status

log = structlog.get_logger()

TOOK_PLACE = (exit_codes.DONE, exit_codes.FAILURES, exit_codes.STOPPED_EARLY)
"""After these a night is over, and doing it again would help nobody before the next one."""

COMMAND = (sys.executable, "-m", "jobs.nightly")


@dataclass(slots=True)
class NightRunner:
    """Runs the night as a child process, and can end it from another thread."""

    command: tuple[str, ...] = COMMAND
    _child: subprocess.Popen[bytes] | None = None
    _stopping: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Run one night and wait for its end."""
        with self._lock:
            if self._stopping:
                return
            # A session of its own: Ctrl-C must reach the child once, by way of ``stop``.
            self._child = subprocess.Popen(self.command, start_new_session=True)  # noqa: S603
        log.info("scheduler.night_started", process_id=self._child.pid)
        code = self._child.wait()
        note = log.info if code == exit_codes.DONE else log.warning
        note("scheduler.night_finished", exit_code=code)

    def stop(self) -> None:
        """Start no more nights, and ask a running one to end; its own clean-up decides when."""
        with self._lock:
            self._stopping = True
            if self._child is not None and self._child.poll() is None:
                self._child.send_signal(signal.SIGTERM)


def serve(app: App) -> int:
    """Run nights by the schedule until SIGTERM or SIGINT; return the exit code."""
    settings = app.settings.schedule
    schedule = parse_schedule(settings.nightly, settings.time_zone)
    if schedule.warning:
        log.warning("scheduler.clock_change", problem=schedule.warning)
    now = datetime.now(UTC)
    missed = is_missed(schedule.last_before(now), _last_night(app))
    # A put is allowed inside a signal handler, where taking a lock could block for ever.
    signals: SimpleQueue[int] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: signals.put(received))
    runner = NightRunner()
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_job(
        runner.run,
        schedule.trigger,
        id=nightly.JOB,
        misfire_grace_time=None,
        coalesce=True,
        max_instances=1,
        next_run_time=now if missed else schedule.next_after(now),
    )
    scheduler.start()
    log.info("scheduler.started", next_night=str(schedule.next_after(now)), catching_up=missed)
    received = signals.get()
    log.info("scheduler.stopping", signal=signal.Signals(received).name)
    runner.stop()
    scheduler.shutdown(wait=True)
    return exit_codes.DONE


def _last_night(app: App) -> datetime | None:
    with app.engine.connect() as connection:
        last = run_status.last_success(connection, nightly.JOB, TOOK_PLACE, silence=LEASE)
    # Nothing of the database is needed until the scheduler ends.
    app.engine.dispose()
    return last.started_at if last else None


def command() -> None:
    """Stay resident and run the night by schedule; cron is the simpler way."""
    raise typer.Exit(guarded(serve))


if __name__ == "__main__":
    typer.run(command)
