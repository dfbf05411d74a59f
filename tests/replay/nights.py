"""Runs the product night by night over a folder, and holds each night against the oracle."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jobs import compile_drain, drift_sweep, exit_codes, lint_pass
from jobs.runner import JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.domain import Collection
from llmwiki.ingest.service import IngestReport, ingest_folder
from llmwiki.overview.service import refresh_overview
from llmwiki.store import collections
from tests.replay.observation import (
    ObservedPage,
    checksums,
    observed_pages,
    refusals,
    revisions,
)
from tests.replay.oracle import Judgement, Oracle
from tests.replay.trees import EMPTY_TREE, Tree, read_tree


@dataclass(slots=True, kw_only=True)
class NightReport:
    """One night: what moved, what the sweep marked and why, what it cost, what was wrong."""

    night: int
    ingest: IngestReport
    chunks_changed: int
    topics: int
    reasons: Counter[str]
    marked: frozenset[str]
    judgement: Judgement
    compiled: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Replay:
    """One collection, the folder that it is compiled from, and the oracle that watches it."""

    app: App = field(repr=False)
    folder: Path
    name: str
    oracle: Oracle = field(default_factory=Oracle, repr=False)
    tree: Tree = field(default=EMPTY_TREE, repr=False)
    """What the oracle read last."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Pages whose last compile failed, and why."""

    @cached_property
    def collection(self) -> Collection:
        """The collection, once the first ingest created it."""
        with self.app.engine.connect() as connection:
            (found,) = collections.select_collections(connection, name=self.name)
        return found

    def take_over(self, night: int) -> NightReport:
        """Ingest the folder as it is now, sweep, and judge the marks; compile nothing."""
        seconds: dict[str, float] = {}
        with _timed(seconds, "ingest"):
            ingest = self.ingest()
        with _timed(seconds, "overview"):
            self.refresh()
        with _timed(seconds, "sweep"):
            swept = self.run_job(drift_sweep.JOB)
        pages = self.observe()
        with _timed(seconds, "oracle"):
            before, self.tree = self.tree, self.read_tree()
            faults = _against_tree(pages, self.tree)
            slugs = [page.slug for page in pages]
            given = {page.slug: page.reasons for page in pages if page.reasons}
            judgement = self.oracle.judge(self.tree.topics, slugs, given) if not faults else _NONE
        self.oracle.go_on(self.tree.topics, slugs)
        faults += judgement.faults
        faults += [] if swept.exit_code == exit_codes.DONE else ["the sweep failed"]
        gone, came = before.chunks - self.tree.chunks, self.tree.chunks - before.chunks
        return NightReport(
            night=night,
            ingest=ingest,
            chunks_changed=max(gone.total(), came.total()),
            topics=len(pages),
            reasons=Counter(reason for reasons in given.values() for reason in reasons),
            marked=frozenset(given),
            judgement=judgement,
            seconds=seconds,
            faults=faults,
        )

    def compile(self, report: NightReport) -> None:
        """Drain and lint; hold what was written against what the oracle said must be."""
        written = self.drain(report)
        needed = report.judgement.marked
        refused = self._refusals()
        report.compiled = len(written)
        report.faults += [f"{slug}: compiled without need" for slug in sorted(written - needed)]
        report.faults += [
            f"{slug}: not compiled" for slug in sorted(needed - written - set(refused))
        ]
        # A page that was refused waits for its next attempt; that is told once.
        report.faults += [
            f"{slug}: {error}" for slug, error in refused.items() if slug not in self.refused
        ]
        self.refused = refused
        self.oracle.compiled(written)
        with _timed(report.seconds, "lint"):
            linted = self.run_job(lint_pass.JOB)
        report.faults += [
            f"lint: {finding['code']}: {finding['message']}"
            for finding in linted.facts["findings"]
            if finding["severity"] == "error"
        ]

    def drain(self, report: NightReport) -> set[str]:
        """Run the compile drain; return the pages that it wrote."""
        before = self._revisions()
        with _timed(report.seconds, "drain"):
            drained = self.run_job(compile_drain.JOB)
        written = {
            slug for slug, revision in self._revisions().items() if revision != before.get(slug)
        }
        told, expected = drained.facts, (len(written), 0, len(self._refusals()))
        facts = ("compiled", "skipped_unchanged", "remaining_stale")
        report.faults += [
            f"the drain tells that {fact} is {told[fact]}, not {number}"
            for fact, number in zip(facts, expected, strict=True)
            if told[fact] != number
        ]
        return written

    def read_tree(self) -> Tree:
        """Let the oracle read the folder as it is now."""
        settings, known = self.app.settings, self.tree.documents
        return read_tree(self.folder, settings.ingest, settings.overview, before=known)

    def ingest(self) -> IngestReport:
        """Bring the collection to the state of the folder."""
        app = self.app
        settings = app.settings.ingest
        _, report = ingest_folder(
            app.engine, app.embedder, settings, [self.folder], self.name, allow_shrink=True
        )
        return report

    def refresh(self) -> None:
        """Bring the topics up to date."""
        app = self.app
        refresh_overview(app.engine, app.embedder, app.settings.overview, self.collection)

    def run_job(self, job: str) -> JobResult:
        """Run one of the three jobs of a night on this collection."""
        return run_job(self.app, job, JobOptions(collections=(self.collection,)), _BODIES[job])

    def observe(self) -> list[ObservedPage]:
        """Read what the database claims now."""
        with self.app.engine.connect() as connection:
            return observed_pages(connection, self.collection)

    def checksums(self) -> Mapping[str, str]:
        """Return a checksum of every row of the corpus and the wiki."""
        with self.app.engine.connect() as connection:
            return checksums(connection, self.collection)

    def _revisions(self) -> Mapping[str, int]:
        with self.app.engine.connect() as connection:
            return revisions(connection, self.collection)

    def _refusals(self) -> Mapping[str, str]:
        with self.app.engine.connect() as connection:
            return refusals(connection, self.collection)


_BODIES: Mapping[str, Any] = {
    drift_sweep.JOB: drift_sweep.run,
    compile_drain.JOB: compile_drain.run,
    lint_pass.JOB: lint_pass.run,
}

_NONE = Judgement(
    marked=frozenset(),
    new=frozenset(),
    retired=frozenset(),
    open_choices=0,
    needless=0,
    kept_apart=(),
    faults=(),
)


def _against_tree(pages: list[ObservedPage], tree: Tree) -> list[str]:
    """Hold the topics of the database against those of the tree, in their order."""
    stored = [(page.title, page.folder, page.sayings) for page in pages]
    expected = [(topic.title, topic.folder, topic.sayings) for topic in tree.topics]
    if stored == expected:
        return []
    if len(stored) != len(expected):
        return [f"{len(stored)} topics are stored, the tree has {len(expected)}"]
    return [
        f"topic {page.slug} is stored otherwise than the tree has {topic.place}"
        for page, topic, left, right in zip(pages, tree.topics, stored, expected, strict=True)
        if left != right
    ]


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds[step] = seconds.get(step, 0.0) + time.monotonic() - started
