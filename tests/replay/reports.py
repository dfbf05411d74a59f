"""Tells what a replay showed: a line a night, a summary, and both as Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.replay.compare import Comparison
from tests.replay.nights import NightReport

REASONS = ("never-compiled", "content", "added", "removed", "recipe")
STEPS = ("ingest", "overview", "sweep", "drain", "lint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A night in figures."""

    night: int
    files: int
    chunks: int
    moved: int
    topics: int
    marked: int
    reasons: Counter[str]
    compiled: int
    retired: int
    open_choices: int
    kept_apart: int
    needless: int
    seconds: dict[str, float]
    faults: int


@dataclass(slots=True)
class ReplayReport:
    """A whole replay."""

    lines: list[Line] = field(default_factory=list)
    taken_back: int = 0
    faults: list[str] = field(default_factory=list)
    comparison: Comparison | None = None

    def add(self, judged: NightReport, files: int) -> Line:
        """Take a night into the report."""
        line = Line(
            night=judged.night,
            files=files,
            chunks=judged.chunks_changed,
            moved=judged.ingest.moved,
            topics=judged.topics,
            marked=len(judged.marked),
            reasons=judged.reasons,
            compiled=judged.compiled,
            retired=len(judged.judgement.retired),
            open_choices=judged.judgement.open_choices,
            kept_apart=len(judged.judgement.kept_apart),
            needless=judged.judgement.needless,
            seconds=judged.seconds,
            faults=len(judged.faults),
        )
        self.lines.append(line)
        self.faults += [f"night {judged.night}: {fault}" for fault in judged.faults]
        return line


def write_line(line: Line) -> str:
    """Return a night as one line for a terminal."""
    reasons = " ".join(f"{name}={line.reasons[name]}" for name in REASONS if line.reasons[name])
    steps = " ".join(f"{step} {line.seconds.get(step, 0.0):.1f}" for step in STEPS)
    return (
        f"night {line.night}: {line.files} files, {line.chunks} chunks, "
        f"{line.marked} of {line.topics} marked ({reasons or 'none'}), {line.compiled} compiled, "
        f"{line.retired} retired, {line.needless} needless; seconds: {steps}; "
        f"faults: {line.faults}"
    )


def write_report(name: str, report: ReplayReport, *, largest: int) -> str:
    """Return the replay as Markdown: the summary, and the nights that compiled most."""
    busiest = sorted(report.lines[1:], key=lambda line: line.compiled, reverse=True)[:largest]
    chosen = [*report.lines[:1], *sorted(busiest, key=lambda line: line.night)]
    return "\n".join(
        [f"### {name}", "", *_table(_summary(report)), "", *_table([_HEAD, *map(_cells, chosen)])]
    )


_HEAD = (
    *("Night", "Files", "Chunks", "Topics", "Marked"),
    *REASONS[:4],
    *("Compiled", "Retired", "Seconds"),
)


def _cells(line: Line) -> tuple[str, ...]:
    seconds = sum(line.seconds.get(step, 0.0) for step in STEPS)
    figures = (line.night, line.files, line.chunks, line.topics, line.marked)
    reasons = (line.reasons[name] for name in REASONS[:4])
    return (
        *map(str, (*figures, *reasons, line.compiled, line.retired)),
        f"{seconds:.1f}",
    )


def _summary(report: ReplayReport) -> list[tuple[str, ...]]:
    lines = report.lines
    later = lines[1:]
    changed = sum(line.chunks for line in later)
    return [
        ("What", "Figure"),
        ("Nights", str(len(lines))),
        ("Topics, first and last night", f"{lines[0].topics}, {lines[-1].topics}"),
        ("Files and chunks changed after the first night", f"{_sum(later, 'files')}, {changed}"),
        ("Files moved", str(_sum(later, "moved"))),
        ("Pages marked after the first night", str(_sum(later, "marked"))),
        ("Pages compiled after the first night", str(_sum(later, "compiled"))),
        ("Pages retired", str(_sum(later, "retired"))),
        ("Compiles that other identities would have spared", str(_sum(later, "needless"))),
        (
            "Pages that might as well have gone on as another topic",
            str(_sum(later, "open_choices")),
        ),
        (
            "Pages that went by their rows where texts point elsewhere",
            str(_sum(later, "kept_apart")),
        ),
        ("Nights taken back before their drain", str(report.taken_back)),
        ("Seconds, first night and median of the others", _times(lines)),
        ("Differences from the oracle, lint errors, other faults", str(len(report.faults))),
        *_compared(report.comparison),
    ]


def _compared(comparison: Comparison | None) -> list[tuple[str, str]]:
    if comparison is None:
        return []
    return [
        ("Differences from a database built anew", str(len(comparison.differences))),
        ("Addresses kept from earlier places", f"{comparison.keys} of {comparison.topics}"),
        ("Pages that a compile would word otherwise today", str(comparison.texts)),
    ]


def _sum(lines: Iterable[Line], name: str) -> int:
    return sum(int(getattr(line, name)) for line in lines)


def _times(lines: Sequence[Line]) -> str:
    totals = [sum(line.seconds.get(step, 0.0) for step in STEPS) for line in lines]
    others = sorted(totals[1:]) or [0.0]
    return f"{totals[0]:.1f}, {others[len(others) // 2]:.1f}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *body = rows
    rule = ["---"] * len(head)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *body)]
