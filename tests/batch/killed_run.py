"""Runs ``drain --via batch`` over an ingested wiki, and kills itself at a seam.

python -m tests.batch.killed_run DATABASE_URL FOLDER SERVICE_URL SEAM
"""

import os
import signal
import sys
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


def main() -> None:
    """Run until the seam."""
    database_url, folder, service_url, seam = sys.argv[1:]
    engine = create_engine(database_url)
    wiki = BatchWiki.over(engine, Path(folder), service_url)
    with engine.connect() as connection:
        (wiki.collection,) = select_collections(connection)
    setattr(*stopping((SUBMISSION | COLLECTION)[seam], kill))
    wiki.by_batch()


if __name__ == "__main__":
    main()
