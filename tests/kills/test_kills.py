"""Drains die at every step, four at a time: no call is too many, and no page is lost."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.compiler.fingerprint import source_hash
from llmwiki.domain import TopicId
from llmwiki.store import chunks
from llmwiki.store.ledger_report import budget_figures
from tests.kills.counting import CountingServer
from tests.kills.storm import Storm
from tests.kills.whole import (
    broken_pages,
    compiled_twice,
    count_calls,
    records_by_status,
)
from tests.kills.worker import BOUNDARIES, IN_FLIGHT, settings_for
from tests.support.wiki import Wiki, prose

SEED = 20260301
PAGES = 24
CALLS_A_ROUND = 20
"""Eight requests would do; the rest is for those that die, and often it is not enough."""


def files(version: int) -> dict[str, str]:
    return {
        f"part{number:02}.md": f"# Part {number}\n\n"
        + prose(f"part{number}").replace("number 3 keeps", f"number 3 in {version} keeps")
        + "\n"
        for number in range(PAGES)
    }


class Rounds:
    """The same wiki, edited again and again, and compiled under fire each time."""

    def __init__(self, wiki: Wiki, server: CountingServer, storm: Storm) -> None:
        self.wiki, self.server, self.storm = wiki, server, storm
        self.number = 0
        self.hashes: dict[str, set[str | None]] = {}

    def play(self, kills: int) -> None:
        """Edit every page, compile it under fire, and in the end in peace."""
        self.number += 1
        self._edit()
        cap = count_calls(self.wiki.engine).used + CALLS_A_ROUND
        self.server.errs = True
        self.storm.rage(kills, cap, lambda: self._check_under_fire(cap))
        self._check_under_fire(cap)
        self.server.errs = False
        cap += PAGES
        self.storm.calm(cap)
        self._check_under_fire(cap)
        self._check_end()

    def _edit(self) -> None:
        self.wiki.ingest(files(self.number))
        self.wiki.sweep()
        now = self._current_hashes()
        old = dict(self.wiki.rows("SELECT slug, source_hash FROM page WHERE kind = 'page'"))
        self.hashes = {slug: {now[slug], old[slug]} for slug in now}

    def _current_hashes(self) -> Mapping[str, str]:
        topics = dict(self.wiki.rows("SELECT id, key FROM topic WHERE retired_at IS NULL"))
        with self.wiki.engine.connect() as connection:
            found = chunks.topic_sources(connection, map(TopicId, topics))
        return {topics[topic]: source_hash(sources) for topic, sources in found.items()}

    def _check_under_fire(self, cap: int) -> None:
        assert self.wiki.collection is not None
        requests = self.server.requests  # read first: the ledger must be ahead at any moment
        calls = count_calls(self.wiki.engine)
        assert requests <= calls.rows == calls.used == calls.used_by_night <= cap
        assert broken_pages(self.wiki.engine, self.wiki.collection) == []
        for slug, known in self.wiki.rows("SELECT slug, source_hash FROM page WHERE kind = 'page'"):
            assert known in self.hashes[slug], f"{slug} is neither the old page nor the new one"

    def _check_end(self) -> None:
        assert compiled_twice(self.wiki.engine) == []
        assert self.wiki.rows("SELECT slug FROM page WHERE stale OR lease_until IS NOT NULL") == []
        assert dict(self.wiki.rows("SELECT slug, source_hash FROM page WHERE kind = 'page'")) == (
            self._current_hashes()
        )
        assert self.wiki.lint().facts["errors"] == 0


@pytest.fixture
def rounds(engine: Engine, database_url: str, tmp_path: Path) -> Iterator[Rounds]:
    with CountingServer(SEED) as server:
        settings = settings_for(server.url, CALLS_A_ROUND, "key")
        storm = Storm(engine=engine, database_url=database_url, server_url=server.url, seed=SEED)
        yield Rounds(Wiki(engine, tmp_path, settings), server, storm)
        storm.stop()


def test_no_call_is_too_many_and_no_page_is_lost(rounds: Rounds, kills: int) -> None:
    storm = rounds.storm
    while storm.kills.total() < kills:
        rounds.play(kills - storm.kills.total())
    calls = count_calls(rounds.wiki.engine)
    with rounds.wiki.engine.connect() as connection:
        figures = budget_figures(connection, rounds.wiki.app.limits, patience=timedelta(0))
    lost = {figure.name: figure.lost for figure in figures}
    assert lost["chat"] == calls.unsettled
    revisions = rounds.wiki.rows("SELECT sum(revision) FROM page WHERE kind = 'page'")
    records = records_by_status(rounds.wiki.engine)
    assert [(records["compiled"],)] == revisions
    for boundary in [*BOUNDARIES, IN_FLIGHT]:
        assert kills < 300 or storm.kills[boundary], f"nothing died: {boundary}"
    print(report(rounds))  # noqa: T201 - the table of docs/kills.md


def report(rounds: Rounds) -> str:
    """Return the figures and the table of docs/kills.md."""
    calls = count_calls(rounds.wiki.engine)
    kills = rounds.storm.kills
    figures = (
        f"{kills.total()} kills in {rounds.number} rounds; {rounds.server.requests} requests, "
        f"{calls.rows} calls in the ledger, {calls.unsettled} of them lost; "
        f"compile records: {dict(records_by_status(rounds.wiki.engine))}"
    )
    return "\n".join([figures, *(f"| {name} | {count} |" for name, count in sorted(kills.items()))])
