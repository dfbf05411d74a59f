import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.command import upgrade
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, Engine, create_engine, make_url, text

import llmwiki.store.batch_tables
import llmwiki.store.corpus_tables
import llmwiki.store.job_tables
import llmwiki.store.retrieval_tables
import llmwiki.store.wiki_tables  # noqa: F401 - registers tables with the metadata
from llmwiki.store import migrations
from llmwiki.store.base_table import Base


@pytest.fixture
def empty_database(database_server: str) -> Iterator[Engine]:
    name = f"llmwiki_empty_{uuid.uuid4().hex[:12]}"
    url = make_url(database_server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine = create_engine(url.set(database=name))
    yield engine
    engine.dispose()
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


def upgrade_to(engine: Engine, revision: str) -> None:
    config: Config = migrations._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        upgrade(config, revision)
        connection.commit()


def test_the_migrated_database_is_what_the_models_describe(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, Base.metadata) == []


def test_the_check_constraints_are_those_of_the_models(engine: Engine) -> None:
    # Autogenerate does not compare check constraints.
    declared = {
        str(constraint.name)
        for table in Base.metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    with engine.connect() as connection:
        found = connection.scalars(
            text("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0")
        ).all()
    assert declared
    assert declared <= set(found)


BEFORE_PINS = """
INSERT INTO collection (id, name, owner, embedder, dimension) VALUES (1, 'docs', 'me', 'e', 3);
INSERT INTO document (id, collection_id, path, title, fingerprint, byte_size)
VALUES (1, 1, 'a.md', 'A', 'f', 9);
INSERT INTO chunk (id, collection_id, document_id, position, breadcrumb, text, content_hash,
                   token_count)
VALUES (10, 1, 1, 0, '{}', 'first', 'h10', 5), (11, 1, 1, 1, '{}', 'second', 'h11', 5);
INSERT INTO topic (id, collection_id, key, title, folder, position)
VALUES (1, 1, 'a', 'Topic', '', 0);
INSERT INTO topic_chunk (chunk_id, topic_id, collection_id, position)
VALUES (10, 1, 1, 0), (11, 1, 1, 1);
INSERT INTO page (id, collection_id, topic_id, kind, slug, title, topic_title_at_compile, body,
                  generator_kind, generator, revision, compiled_at, quarantined_at)
VALUES (1, 1, 1, 'page', 'a', 'A', 'Topic', 'the body', 'model', 'openai:m', 2, now(), now());
INSERT INTO page_source (page_id, chunk_id, collection_id, position, source_hash_at_compile)
VALUES (1, 11, 1, 1, 'h11'), (1, 10, 1, 0, 'h10');
INSERT INTO page_revision (page_id, revision, collection_id, compiled_at, content)
VALUES (1, 1, 1, now(), '{"title": "Old"}'), (1, 2, 1, now(), '{"title": "A"}');
"""


def test_an_upgrade_from_the_first_schema_keeps_the_current_revision_whole(
    empty_database: Engine,
) -> None:
    upgrade_to(empty_database, "0001")
    with empty_database.connect() as connection:
        connection.execute(text(BEFORE_PINS))
        connection.commit()
    assert migrations.upgrade(empty_database) == migrations.head_revision()
    with empty_database.connect() as connection:
        [(number, content)] = connection.execute(
            text("SELECT revision, content FROM page_revision")
        ).all()
        [(pinned, quarantined)] = connection.execute(
            text("SELECT pinned_at, quarantined_edges FROM page")
        ).all()
    assert number == 2
    assert content == {
        "title": "A",
        "topic_title": "Topic",
        "body": "the body",
        "generator_kind": "model",
        "generator_version": "",
        "edges": [
            {"chunk_id": 10, "content_hash": "h10"},
            {"chunk_id": 11, "content_hash": "h11"},
        ],
    }
    assert pinned is None
    assert len(quarantined) == 64


def test_migrations_at_once_wait_for_each_other(empty_database: Engine) -> None:
    with ThreadPoolExecutor(3) as threads:
        done = list(threads.map(lambda _: migrations.upgrade(empty_database), range(3)))
    assert done == [migrations.head_revision()] * 3
