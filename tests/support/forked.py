"""Processes that begin in milliseconds: forked from one that has imported the program."""

import multiprocessing
import os
from pathlib import Path

IMPORTED_ONCE = (
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "httpcore2",
    "truststore",
    "openai.resources",
    "tests.batch.killed_run",
    "tests.kills.worker",
)
"""What a drain imports, the modules that are imported late by name."""

PROCESSES = multiprocessing.get_context("forkserver")


def prepare_processes() -> None:
    """Let the first process find the program imported; without it each would import it anew."""
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (root, os.environ.get("PYTHONPATH", "")))
    )
    PROCESSES.set_forkserver_preload(list(IMPORTED_ONCE))
