from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from llmwiki.domain import Collection, CollectionId, EmbedderIdentity
from llmwiki.store import embeddings
from llmwiki.store.vector_indexes import find_vector_index, index_for, refresh_vector_index
from tests.support.vectors import store_vectors, unit_vectors

INDEXES = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname LIKE 'embedding%hnsw' ORDER BY 1
"""


def indexes(engine: Engine) -> list[tuple[str, bool]]:
    with engine.connect() as connection:
        return [(row.relname, row.indisvalid) for row in connection.execute(text(INDEXES))]


def execute(engine: Engine, statement: str) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))


def stored(engine: Engine, count: int = 60, name: str = "vectors") -> Collection:
    return store_vectors(engine, unit_vectors(count, 4), name=name)[0]


def test_a_collection_that_outgrew_the_threshold_gets_one_index_of_its_own(engine: Engine) -> None:
    collection = stored(engine)
    assert refresh_vector_index(engine, collection, exact_below=60) == "none"
    assert indexes(engine) == []
    assert refresh_vector_index(engine, collection, exact_below=59) == "created"
    assert refresh_vector_index(engine, collection, exact_below=59) == "kept"
    assert [whole for _, whole in indexes(engine)] == [True]
    with engine.connect() as connection:
        assert find_vector_index(connection, collection) == index_for(collection)
        assert find_vector_index(connection, replace(collection, id=CollectionId(999))) is None


def test_an_index_goes_when_its_collection_shrank_well_below(engine: Engine) -> None:
    collection = stored(engine, 60)
    refresh_vector_index(engine, collection, exact_below=50)
    assert refresh_vector_index(engine, collection, exact_below=100) == "kept"
    execute(engine, "DELETE FROM document WHERE path <> '0'")
    assert refresh_vector_index(engine, collection, exact_below=50) == "dropped"
    assert indexes(engine) == []


def test_another_embedder_replaces_the_index(engine: Engine) -> None:
    collection = stored(engine)
    refresh_vector_index(engine, collection, exact_below=0)
    before = indexes(engine)
    other = replace(collection, embedder=EmbedderIdentity(name="other", dimension=6))
    with engine.connect() as connection:
        vectors = {f"vectors {number}": row for number, row in enumerate(unit_vectors(60, 6))}
        embeddings.add_embeddings(connection, collection, other.embedder, vectors)
        connection.commit()
    assert refresh_vector_index(engine, other, exact_below=0) == "created"
    assert len(indexes(engine)) == 1
    assert indexes(engine) != before


def test_the_index_of_a_collection_that_is_gone_goes_with_the_next(engine: Engine) -> None:
    first, second = stored(engine, name="first"), stored(engine, name="second")
    refresh_vector_index(engine, first, exact_below=0)
    refresh_vector_index(engine, second, exact_below=0)
    execute(engine, "DELETE FROM collection WHERE name = 'first'")
    assert refresh_vector_index(engine, second, exact_below=0) == "kept"
    expected = index_for(second)
    assert expected is not None
    assert indexes(engine) == [(expected.name, True)]


def test_a_half_built_index_is_built_anew(engine: Engine) -> None:
    collection = stored(engine)
    index = index_for(collection)
    assert index is not None
    # One vector has another dimension, so that the build breaks off and leaves its ruin.
    execute(engine, "UPDATE embedding SET vector = '[1,2]' WHERE hash = 'vectors 59'")
    assert refresh_vector_index(engine, collection, exact_below=0) == "failed"
    assert indexes(engine) == [(index.name, False)]
    with engine.connect() as connection:
        assert find_vector_index(connection, collection) is None
    execute(engine, "UPDATE embedding SET vector = '[1,2,3,4]' WHERE hash = 'vectors 59'")
    assert refresh_vector_index(engine, collection, exact_below=0) == "created"
    assert indexes(engine) == [(index.name, True)]


def test_two_that_build_at_once_both_end_well(engine: Engine) -> None:
    collection = stored(engine, 600)
    with ThreadPoolExecutor(3) as threads:
        done = list(
            threads.map(lambda _: refresh_vector_index(engine, collection, exact_below=0), range(3))
        )
    assert "created" in done
    assert set(done) <= {"created", "busy", "kept"}
    assert [whole for _, whole in indexes(engine)] == [True]


def test_builds_of_two_collections_at_once_do_not_wait_for_each_other(engine: Engine) -> None:
    both = [stored(engine, 600, name="first"), stored(engine, 600, name="second")]
    with ThreadPoolExecutor(2) as threads:
        done = list(
            threads.map(lambda each: refresh_vector_index(engine, each, exact_below=0), both)
        )
    assert "created" in done
    assert set(done) <= {"created", "busy"}
    for collection in both:
        assert refresh_vector_index(engine, collection, exact_below=0) in {"created", "kept"}
    assert [whole for _, whole in indexes(engine)] == [True, True]


def test_an_older_transaction_that_does_not_end_makes_it_give_up_and_not_hang(
    engine: Engine,
) -> None:
    collection = stored(engine)
    with engine.connect() as reader:
        reader.execution_options(isolation_level="REPEATABLE READ")
        reader.execute(text("SELECT count(*) FROM embedding"))
        change = refresh_vector_index(engine, collection, exact_below=0, longest_wait=0.05)
        assert change == "failed"
        assert reader.execute(text("SELECT count(*) FROM embedding")).scalar_one() == 60
    assert refresh_vector_index(engine, collection, exact_below=0) == "created"


def test_settings_of_the_build_do_not_leak_into_the_pool(engine: Engine) -> None:
    refresh_vector_index(engine, stored(engine), exact_below=0)
    with engine.connect() as connection:
        assert connection.execute(text("SHOW lock_timeout")).scalar_one() == "0"


def test_a_lost_database_is_not_taken_for_a_failed_build(engine: Engine) -> None:
    collection = stored(engine)
    execute(engine, "ALTER TABLE embedding RENAME TO elsewhere")
    with pytest.raises(DBAPIError):
        refresh_vector_index(engine, collection, exact_below=0)
