from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.batch.batch_wiki import BatchWiki
from tests.support.batch_server import BatchServer
from tests.support.forked import prepare_processes
from tests.support.model import write_pages


@pytest.fixture(scope="session", autouse=True)
def _processes() -> None:
    prepare_processes()


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(write_pages) as running:
        yield running


@pytest.fixture
def make_wiki(engine: Engine, tmp_path: Path, server: BatchServer) -> Callable[..., BatchWiki]:
    def make(**values: int) -> BatchWiki:
        return BatchWiki.over(engine, tmp_path, server.url, **values)

    return make
