"""Runs ``drain --via batch`` over an ingested wiki, and kills itself at a seam."""

import os
import signal
import time
from pathlib import Path
from typing import NoReturn

from sqlalchemy import create_engine

from llmwiki.store.collections import select_collections
from tests.batch.batch_wiki import BatchWiki
from tests.batch.seams import COLLECTION, SUBMISSION, stopping


def kill() -> NoReturn:
    """End without any clean-up."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
    raise AssertionError("still alive")


def run_until(seam: str, database_url: str, folder: Path, service_url: str) -> None:
    """Run until the seam; in a process of its own."""
    engine = create_engine(database_url)
    wiki = BatchWiki.over(engine, folder, service_url)
    with engine.connect() as connection:
        (wiki.collection,) = select_collections(connection)
    setattr(*stopping((SUBMISSION | COLLECTION)[seam], kill))
    wiki.by_batch()
