"""Replays a git bundle of documentation night by night, and proves each night.

Run it from the top of the repository as ``python -m tests.replay.replay BUNDLE --database URL``.
"""

import argparse
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import create_engine, make_url, text

from llmwiki.bootstrap import App
from llmwiki.config import EmbedderSettings, Settings
from llmwiki.store import migrations
from llmwiki.store.engine import Database
from tests.replay.driver import replay_history
from tests.replay.histories import clone
from tests.replay.reports import ReplayReport, write_report

LARGEST_NIGHTS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay, print each night, and return 1 where anything was not as it should be."""
    options = _parser().parse_args(arguments)
    bundle: Path = options.bundle
    with tempfile.TemporaryDirectory() as folder, _new_database(options.database) as database:
        report = replay_history(
            open_app(database, options.embedder),
            clone(bundle, Path(folder) / bundle.stem),
            nights=options.nights,
            every=options.every,
            tell=lambda line: print(line, flush=True),  # noqa: T201 - a long run shows how far
        )
    written = write_report(bundle.stem, report, largest=LARGEST_NIGHTS)
    if options.report:
        options.report.write_text(written + "\n", encoding="utf-8")
    print(written)  # noqa: T201 - the result
    return _verdict(report)


def open_app(database: Database, embedder: Literal["hashing", "minilm"]) -> App:
    """Wire the program with defaults alone, whatever the environment says."""
    settings = Settings.model_construct(embedder=EmbedderSettings(provider=embedder))
    return App(settings=settings, database=database)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.replay.replay", description=__doc__)
    parser.add_argument("bundle", type=Path, help="git bundle; one commit is a night")
    parser.add_argument(
        "--database", required=True, help="URL of a server; a database is made on it, and dropped"
    )
    parser.add_argument("--nights", type=int, default=sys.maxsize, help="default: all")
    parser.add_argument("--embedder", choices=("hashing", "minilm"), default="hashing")
    parser.add_argument("--every", type=int, default=20, help="take every such night back once")
    parser.add_argument("--report", type=Path, help="write the summary there, as Markdown")
    return parser


@contextmanager
def _new_database(server: str) -> Iterator[Database]:
    """Make a database for this replay, migrated and empty, and drop it in the end."""
    url = make_url(server).set(drivername="postgresql+psycopg")
    name = f"llmwiki_replay_{uuid.uuid4().hex[:12]}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        with Database(engine=create_engine(url.set(database=name))) as database:
            migrations.upgrade(database.engine)
            yield database
    finally:
        with admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        admin.dispose()


def _verdict(report: ReplayReport) -> int:
    differences = report.comparison.differences if report.comparison else ()
    for difference in differences:
        print(difference, file=sys.stderr)  # noqa: T201 - the reason of the exit code
    return 1 if report.faults or differences else 0


if __name__ == "__main__":
    sys.exit(main())
