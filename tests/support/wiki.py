"""A small corpus on disk and the steps of a night over it, for tests of the whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, NullPool, create_engine, text

from jobs import compile_drain, drift_sweep, lint_pass, nightly
from jobs.runner import JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.config import EmbedderSettings, Settings
from llmwiki.domain import Collection
from llmwiki.ingest.service import IngestReport, ingest_folder
from llmwiki.overview.service import OverviewReport, refresh_overview
from llmwiki.store.engine import Database

HASHING = EmbedderSettings(provider="hashing")


def prose(topic: str, sentences: int = 30) -> str:
    """Return a paragraph that is about one thing and long enough to be a document's body."""
    return " ".join(
        f"The {topic} number {number} keeps its {topic} value when {topic} is read again."
        for number in range(sentences)
    )


def write_tree(folder: Path, files: Mapping[str, str]) -> None:
    """Make the folder hold these files and no others."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() or path.is_symlink():
            path.unlink()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


@dataclass
class Wiki:
    """One collection over one folder, driven as the jobs drive it."""

    engine: Engine
    folder: Path
    settings: Settings = field(default_factory=lambda: Settings(embedder=HASHING))
    name: str = "docs"

    def __post_init__(self) -> None:
        self.app = App(settings=self.settings, database=Database(engine=self.engine))
        self.collection: Collection | None = None

    def ingest(
        self, files: Mapping[str, str] | None = None, *, allow_shrink: bool = False
    ) -> tuple[IngestReport, OverviewReport]:
        """Write the files, ingest the folder, refresh the overview."""
        if files is not None:
            write_tree(self.folder, files)
        self.collection, report = ingest_folder(
            self.engine,
            self.app.embedder,
            self.settings.ingest,
            [self.folder],
            self.name,
            allow_shrink=allow_shrink,
        )
        overview = refresh_overview(
            self.engine, self.app.embedder, self.settings.overview, self.collection
        )
        return report, overview

    def options(self, *, dry_run: bool = False, budget: int | None = None) -> JobOptions:
        """Return options for this collection."""
        assert self.collection is not None, "ingest first"
        return JobOptions(collections=(self.collection,), dry_run=dry_run, budget=budget)

    def sweep(self) -> JobResult:
        """Run the sweep."""
        return run_job(self.app, drift_sweep.JOB, self.options(), drift_sweep.run)

    def drain(self, *, budget: int | None = None) -> JobResult:
        """Run the drain."""
        return run_job(self.app, compile_drain.JOB, self.options(budget=budget), compile_drain.run)

    def lint(self) -> JobResult:
        """Run the lint pass."""
        return run_job(self.app, lint_pass.JOB, self.options(), lint_pass.run)

    def night(self, *, dry_run: bool = False) -> JobResult:
        """Run the night."""
        return run_job(self.app, nightly.JOB, self.options(dry_run=dry_run), nightly.run)

    def stale(self) -> dict[str, list[str]]:
        """Return the reasons of the stale pages by slug."""
        rows = self.rows("SELECT slug, stale_reasons FROM page WHERE stale ORDER BY slug")
        return dict(rows)

    def read_only(self) -> "Wiki":
        """Return the same for a reader whose writes the database refuses."""
        options = {"options": "-c default_transaction_read_only=on -c TimeZone=UTC"}
        engine = create_engine(self.engine.url, connect_args=options, poolclass=NullPool)
        return Wiki(engine, self.folder, self.settings, self.name)

    def rows(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query), values)]

    def change(self, statement: str, **values: object) -> None:
        """Execute and commit a statement, to damage what the code under test must notice."""
        with self.engine.connect() as connection:
            connection.execute(text(statement), values)
            connection.commit()
