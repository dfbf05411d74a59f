import numpy as np
import pytest
from sqlalchemy import Connection, Engine, text

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.tiers import DenseTier, dense_tier
from llmwiki.store.scored import Scored
from llmwiki.store.search_vectors import find_by_vector, score_by_vector
from llmwiki.store.vector_indexes import find_vector_index, refresh_vector_index
from llmwiki.store.word_statistics import read_extents
from tests.support.vectors import Matrix, store_vectors, unit_vectors

COUNT, DIMENSION = 2_500, 32


def nearest(vectors: Matrix, ids: list[ChunkId], asked: Matrix, limit: int) -> list[ChunkId]:
    order = np.argsort(-(vectors @ asked), kind="stable")[:limit]
    return [ids[place] for place in order]


def ids_of(scored: Scored) -> list[ChunkId]:
    return [chunk_id for chunk_id, _ in scored]


def tier_of(connection: Connection, collection: Collection, exact_below: int) -> DenseTier:
    extents = read_extents(connection, [collection])
    vector = unit_vectors(1, collection.embedder.dimension, seed=9)[0]
    return dense_tier(connection, [collection], extents, vector, exact_below=exact_below)


def test_an_exact_search_finds_the_nearest_with_their_similarity(engine: Engine) -> None:
    vectors = unit_vectors(200, 8)
    collection, ids, _ = store_vectors(engine, vectors)
    asked = unit_vectors(1, 8, seed=1)[0]
    with engine.connect() as connection:
        found = find_by_vector(connection, collection, asked, limit=10)
    assert ids_of(found) == nearest(vectors, ids, asked, 10)
    scores = sorted((vectors @ asked).tolist(), reverse=True)[:10]
    assert [score for _, score in found] == pytest.approx(scores, abs=1e-6)


def test_the_index_finds_nearly_all_of_the_nearest_with_exact_scores(engine: Engine) -> None:
    vectors = unit_vectors(COUNT, DIMENSION)
    collection, ids, _ = store_vectors(engine, vectors)
    assert refresh_vector_index(engine, collection, exact_below=0) == "created"
    hits = 0
    with engine.connect() as connection:
        index = find_vector_index(connection, collection)
        assert index is not None
        for asked in unit_vectors(20, DIMENSION, seed=1):
            found = find_by_vector(connection, collection, asked, limit=20, index=index)
            scores = [score for _, score in found]
            assert len(found) == 20
            assert scores == sorted(scores, reverse=True)
            assert dict(found) == pytest.approx(
                dict(score_by_vector(connection, collection, asked, ids_of(found)))
            )
            hits += len(set(ids_of(found)) & set(nearest(vectors, ids, asked, 20)))
    assert hits / 400 > 0.95


def test_the_query_goes_by_the_index(engine: Engine) -> None:
    collection, _, _ = store_vectors(engine, unit_vectors(COUNT, DIMENSION))
    refresh_vector_index(engine, collection, exact_below=0)
    with engine.connect() as connection:
        index = find_vector_index(connection, collection)
        assert index is not None
        scans = text("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = :name")
        find_by_vector(connection, collection, unit_vectors(1, DIMENSION)[0], limit=9, index=index)
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
        connection.commit()
        assert connection.execute(scans, {"name": index.name}).scalar_one() == 1


def test_a_filter_that_keeps_one_in_a_hundred_still_gets_as_many_as_asked(engine: Engine) -> None:
    vectors = unit_vectors(COUNT, DIMENSION)
    collection, ids, owners = store_vectors(engine, vectors)
    refresh_vector_index(engine, collection, exact_below=0)
    kept = {owners[1_300]}
    chosen = [place for place, owner in enumerate(owners) if owner in kept]
    assert len(chosen) == COUNT // 100
    hits = 0
    with engine.connect() as connection:
        index = find_vector_index(connection, collection)
        for asked in unit_vectors(10, DIMENSION, seed=1):
            found = find_by_vector(
                connection, collection, asked, limit=10, index=index, documents=kept
            )
            exact = nearest(vectors[chosen], [ids[place] for place in chosen], asked, 10)
            hits += len(set(ids_of(found)) & set(exact))
    assert hits / 100 > 0.95


@pytest.mark.parametrize("with_index", [False, True])
def test_vectors_that_belong_to_no_chunk_take_no_place(engine: Engine, with_index: bool) -> None:
    vectors = unit_vectors(300, 8)
    collection, ids, _ = store_vectors(engine, vectors)
    gone = set(nearest(vectors, ids, vectors[7], 100))
    with engine.connect() as connection:
        connection.execute(text("DELETE FROM chunk WHERE id = ANY(:ids)"), {"ids": list(gone)})
        connection.commit()
    if with_index:
        refresh_vector_index(engine, collection, exact_below=0)
    with engine.connect() as connection:
        index = find_vector_index(connection, collection)
        assert (index is not None) == with_index
        found = find_by_vector(connection, collection, vectors[7], limit=20, index=index)
    assert len(found) == 20
    assert not gone & set(ids_of(found))


def test_the_tier_tells_which_method_ran(engine: Engine) -> None:
    collection, _, _ = store_vectors(engine, unit_vectors(60, 4))
    with engine.connect() as connection:
        assert tier_of(connection, collection, 50).method == "exact"  # no index yet
    refresh_vector_index(engine, collection, exact_below=50)
    with engine.connect() as connection:
        assert tier_of(connection, collection, 50).method == "hnsw"
        assert tier_of(connection, collection, 60).method == "exact"
        assert len(tier_of(connection, collection, 50).find(connection, 5)) == 5


def test_long_vectors_are_indexed_in_half_precision_and_scored_in_full(engine: Engine) -> None:
    vectors = unit_vectors(60, 2_100)
    collection, ids, _ = store_vectors(engine, vectors)
    assert refresh_vector_index(engine, collection, exact_below=0) == "created"
    asked = unit_vectors(1, 2_100, seed=1)[0]
    with engine.connect() as connection:
        index = find_vector_index(connection, collection)
        assert index is not None
        assert index.type == "halfvec(2100)"
        found = find_by_vector(connection, collection, asked, limit=5, index=index)
    assert ids_of(found) == nearest(vectors, ids, asked, 5)
    assert found[0][1] == pytest.approx(float(max(vectors @ asked)), abs=1e-4)


def test_vectors_too_long_for_any_index_are_scanned(engine: Engine) -> None:
    collection, ids, _ = store_vectors(engine, unit_vectors(20, 4_001))
    assert refresh_vector_index(engine, collection, exact_below=0) == "none"
    with engine.connect() as connection:
        tier = tier_of(connection, collection, 0)
        assert tier.method == "exact"
        assert len(tier.find(connection, 20)) == len(ids)
