from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine

from llmwiki.domain import Collection
from tests.lint.small_wiki import SmallWiki, build_wiki
from tests.support.databases import Databases


@pytest.fixture(scope="package")
def built_wiki(databases: Databases) -> Iterator[tuple[Engine, Collection]]:
    """The healthy wiki, written once: lint reads through one connection, so tests roll back."""
    with databases.empty() as url:
        engine = create_engine(url)
        with engine.begin() as connection:
            collection = build_wiki(connection)
        yield engine, collection
        engine.dispose()


@pytest.fixture
def small_wiki(built_wiki: tuple[Engine, Collection]) -> Iterator[SmallWiki]:
    """A healthy wiki of two compiled pages; what a test does to it is rolled back."""
    engine, collection = built_wiki
    with engine.connect() as connection:
        yield SmallWiki(connection=connection, collection=collection)
