"""Several drains at once on one database, each killed at a boundary or at a random moment."""

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from signal import SIGKILL

from sqlalchemy import Engine, text

from tests.kills.worker import BOUNDARIES, IN_FLIGHT, Order, work
from tests.support.forked import PROCESSES

DRAINS = 4
AT_RANDOM = "at a random moment"
LONGEST_LIFE = 1.0
KILLS_BETWEEN_CHECKS = 5
PATIENCE = 60.0
"""Seconds for a drain to end; a longer one hangs, which fails the test."""


@dataclass(slots=True)
class _Drain:
    process: ForkServerProcess
    boundary: str | None
    dies_at: float | None
    started_at: float = field(default_factory=time.monotonic)


@dataclass(slots=True, kw_only=True)
class Storm:
    """Starts drains, kills them, and counts where they died."""

    engine: Engine
    database_url: str
    server_url: str
    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    _running: list[_Drain] = field(default_factory=list, init=False)
    _started: int = field(default=0, init=False)
    _chance: random.Random = field(init=False)
    _orders: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 - repeatable, not secret
        # A fifth at random moments; every boundary as often as any other.
        points = [*BOUNDARIES, IN_FLIGHT, *[AT_RANDOM] * (len(BOUNDARIES) // 4)]
        self._chance.shuffle(points)
        self._orders = itertools.cycle(points)

    def rage(self, kills: int, cap: int, check: Callable[[], None]) -> None:
        """Keep four drains going until so many were killed, or nothing is left for them to do.

        Now and then the check looks at what they do, while they do it.
        """
        wanted = self.kills.total() + kills
        running = self._running
        idle = 0
        while self.kills.total() < wanted and idle < DRAINS:
            while len(running) < DRAINS:
                running.append(self._start(self._next_point(), cap))
            for drain in self._ended(running):
                running.remove(drain)
                idle = 0 if self._count(drain) else idle + 1
                if self.kills.total() % KILLS_BETWEEN_CHECKS == 0:
                    check()
        self.stop()

    def stop(self) -> None:
        """Kill the drains that run."""
        while self._running:
            drain = self._running.pop()
            drain.process.kill()
            drain.process.join(PATIENCE)
            self._count(drain)

    def _next_point(self) -> str:
        """Return the points in turn; now and then the one at which the fewest died so far."""
        if self._started % DRAINS == 0:
            return min(BOUNDARIES, key=self.kills.__getitem__)
        return next(self._orders)

    def _count(self, drain: _Drain) -> bool:
        """Count a drain that was killed; the time of all leases passes with it."""
        was_killed = drain.process.exitcode == -SIGKILL
        if was_killed:
            self.kills[drain.boundary or AT_RANDOM] += 1
            self.expire_leases()
        return was_killed

    def calm(self, cap: int) -> None:
        """Let the time of all leases pass, and four drains run to their end."""
        self.expire_leases()
        self._change("UPDATE page SET not_before = NULL")
        self._running.extend([self._start(None, cap) for _ in range(DRAINS)])
        while self._running:
            drain = self._running[0]
            drain.process.join(PATIENCE)
            assert drain.process.exitcode is not None, "a drain hangs"
            self._running.remove(drain)
            assert drain.process.exitcode == 0, f"a drain ended with {drain.process.exitcode}"

    def expire_leases(self) -> None:
        """Move the clock of the leases: also those of drains that live, which become zombies."""
        self._change(
            "UPDATE page SET lease_until = now() - interval '1 s' WHERE lease_until IS NOT NULL"
        )

    def _start(self, point: str | None, cap: int) -> _Drain:
        self._started += 1
        order = Order(
            job=f"compile-drain-{self._started}",
            database_url=self.database_url,
            server_url=self.server_url,
            cap=cap,
            boundary=None if point == AT_RANDOM else point,
            occurrence=self._chance.choice((1, 1, 2, 3)),
        )
        process = PROCESSES.Process(target=work, args=(order,), daemon=True)
        process.start()
        life = self._chance.uniform(0.05, LONGEST_LIFE)
        dies_at = time.monotonic() + life if point == AT_RANDOM else None
        return _Drain(process, order.boundary, dies_at)

    def _ended(self, running: list[_Drain]) -> list[_Drain]:
        """Wait a moment for drains to end, and kill those whose time has come."""
        wait([drain.process.sentinel for drain in running], timeout=0.01)
        now = time.monotonic()
        for drain in running:
            assert now - drain.started_at < PATIENCE, f"a drain hangs: {drain.boundary}"
            if drain.dies_at is not None and now >= drain.dies_at:
                drain.process.kill()
                drain.process.join(PATIENCE)
        return [drain for drain in running if drain.process.exitcode is not None]

    def _change(self, statement: str) -> None:
        with self.engine.connect() as connection:
            connection.execute(text(statement))
            connection.commit()
