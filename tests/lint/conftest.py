import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, make_url, text

from llmwiki.domain import Collection
from tests.lint.small_wiki import SmallWiki, build_wiki


@pytest.fixture(scope="package")
def built_wiki(database_server: str, template_database: str) -> Iterator[tuple[Engine, Collection]]:
    """The healthy wiki, written once: lint reads through one connection, so tests roll back."""
    name = f"llmwiki_lint_{uuid.uuid4().hex[:12]}"
    url = make_url(database_server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template_database}"))
    engine = create_engine(url.set(database=name))
    with engine.begin() as connection:
        collection = build_wiki(connection)
    yield engine, collection
    engine.dispose()
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def small_wiki(built_wiki: tuple[Engine, Collection]) -> Iterator[SmallWiki]:
    """A healthy wiki of two compiled pages; what a test does to it is rolled back."""
    engine, collection = built_wiki
    with engine.connect() as connection:
        yield SmallWiki(connection=connection, collection=collection)
