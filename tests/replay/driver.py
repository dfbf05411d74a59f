"""Replays a history: every night held against the oracle, some taken back, the end rebuilt."""

from collections.abc import Callable

from llmwiki.bootstrap import App
from tests.replay.compare import Comparison, compare_collections
from tests.replay.histories import History
from tests.replay.nights import NightReport, Replay
from tests.replay.reports import ReplayReport, write_line


def replay_history(
    app: App,
    history: History,
    *,
    nights: int,
    every: int,
    tell: Callable[[str], None] = lambda _line: None,
) -> ReplayReport:
    """Replay the first nights; every so often take a night back before it is compiled."""
    run = Replay(app=app, folder=history.folder, name="lived")
    report = ReplayReport()
    for night in range(1, min(nights, len(history.commits)) + 1):
        history.check_out(night)
        judged = run.take_over(night)
        if night > 1 and night % every == 0:
            judged = take_back(run, history, judged)
            report.taken_back += 1
        run.compile(judged)
        if night == 1:
            judged.faults += repeat(run)
        line = report.add(judged, history.files_changed(night))
        tell(write_line(line))
        for fault in judged.faults:
            tell(f"    {fault}")
    report.comparison = rebuild(run)
    return report


def take_back(run: Replay, history: History, judged: NightReport) -> NightReport:
    """Undo a night after its sweep and before its drain, then let it happen again."""
    night = judged.night
    history.check_out(night - 1)
    undone = run.take_over(night)
    written = run.drain(undone)
    history.check_out(night)
    again = run.take_over(night)
    again.chunks_changed = judged.chunks_changed
    again.ingest = judged.ingest
    again.seconds = judged.seconds
    again.faults += judged.faults
    again.faults += [f"taken back: {fault}" for fault in undone.faults]
    stale = undone.marked - run.refused.keys()
    again.faults += [f"taken back: {slug} is still stale" for slug in sorted(stale)]
    again.faults += [f"taken back: {slug} was compiled" for slug in sorted(written)]
    return again


def repeat(run: Replay) -> list[str]:
    """Run a whole night over an unchanged folder: nothing is done, and no row changes."""
    before = run.checksums()
    second = run.take_over(1)
    written = run.drain(second)
    after = run.checksums()
    faults = [*second.faults, *(f"{slug} was compiled" for slug in sorted(written))]
    faults += [f"rows of {table} changed" for table in before if before[table] != after[table]]
    done = second.ingest
    if done.added or done.changed or done.moved or done.removed or done.embedded:
        faults.append(f"the ingest says {done}")
    return [f"second run: {fault}" for fault in faults]


def rebuild(run: Replay) -> Comparison:
    """Build the folder's last state in a collection of its own, and compare the two."""
    fresh = Replay(app=run.app, folder=run.folder, name="fresh")
    fresh.compile(fresh.take_over(1))
    with run.app.engine.connect() as connection:
        return compare_collections(connection, run.collection, fresh.collection)
