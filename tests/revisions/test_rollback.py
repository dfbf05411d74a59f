from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from llmwiki.compiler.fingerprint import recipe_hash
from llmwiki.domain import ChunkId, PageId
from llmwiki.drift.explanation import explain
from llmwiki.drift.service import mark_pages_stale_for_chunks, verify_citations
from llmwiki.errors import PageLeasedError, UnknownNameError, UsageError
from llmwiki.store import page_writing, queue, revisions
from llmwiki.store.pages import find_page, statements_of
from llmwiki.store.queue import QueueFilter
from llmwiki.store.revisions import list_revisions
from tests.jobs.test_nightly import dump
from tests.revisions.conftest import FILES, SECOND, SLUG, body, edited, model_wiki, return_to
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import Wiki


def page_id(wiki: Wiki) -> PageId:
    [(id_,)] = wiki.rows("SELECT id FROM page WHERE slug = :slug", slug=SLUG)
    return PageId(id_)


def everything(wiki: Wiki) -> list[object]:
    """Return what a rollback must bring back, whole."""
    queries = (
        """
        SELECT title, tldr, tags, body, search_vector::text, embedding_hash, source_count,
               source_hash, recipe_hash, generator_kind, generator, topic_title_at_compile,
               compiled_at
        FROM page WHERE id = :page
        """,
        """
        SELECT role, section_position, heading, kind, text, chunk_ids
        FROM statement WHERE page_id = :page ORDER BY position
        """,
        """
        SELECT chunk_id, position, source_hash_at_compile
        FROM page_source WHERE page_id = :page ORDER BY position
        """,
    )
    return [wiki.rows(query, page=page_id(wiki)) for query in queries]


def test_a_rollback_brings_back_everything_under_a_new_number(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    before = everything(wiki)
    wiki.ingest(SECOND)
    wiki.night()
    assert everything(wiki) != before
    done = return_to(wiki)
    assert (done.restored, done.replaced, done.revision) == (1, 2, 3)
    assert everything(wiki) == before
    with wiki.engine.connect() as connection:
        kept = list_revisions(connection, page_id(wiki))
    assert [(each.number, each.restored_from) for each in kept] == [(3, 1), (2, None), (1, None)]


def test_a_night_leaves_a_rolled_back_page_alone(twice: Wiki) -> None:
    return_to(twice)
    before = dump(twice.engine)["page"]
    result = twice.night()
    assert result.facts["sweep"]["pages_marked_stale"] == 0
    assert result.facts["drain"]["compiled"] == 0
    assert result.facts["lint"]["errors"] == 0
    assert result.facts["lint"]["codes"] == {"compile-drift": 1}
    assert dump(twice.engine)["page"] == before


def test_a_rolled_back_page_is_compiled_again_when_its_sources_move(twice: Wiki) -> None:
    return_to(twice)
    twice.ingest(edited("valve number 5 keeps", "valve number 5 opens", SECOND))
    twice.sweep()
    assert twice.stale() == {SLUG: ["content"]}
    assert twice.drain().facts["compiled"] == 1
    assert "valve number 5 opens" in body(twice)
    assert "pump number 3 loses" in body(twice)
    assert twice.rows("SELECT pinned_at, pinned_edges FROM page WHERE slug = :s", s=SLUG) == [
        (None, None)
    ]
    assert twice.night().facts["drain"]["compiled"] == 0


def test_a_move_that_is_taken_back_leaves_the_pin_as_it_was(twice: Wiki) -> None:
    return_to(twice)
    twice.ingest(edited("valve number 5 keeps", "valve number 5 opens", SECOND))
    twice.sweep()
    twice.ingest(SECOND)
    twice.sweep()
    assert twice.stale() == {}
    assert "pump number 3 keeps" in body(twice)


def test_sources_that_return_to_those_of_the_text_make_no_work(twice: Wiki) -> None:
    return_to(twice)
    twice.ingest(FILES)
    result = twice.night()
    assert result.facts["drain"]["compiled"] == 0
    assert result.facts["lint"]["codes"] == {}
    assert twice.stale() == {}


def test_a_section_that_moves_to_another_file_does_not_end_the_pin(twice: Wiki) -> None:
    return_to(twice)
    moved = {path: content for path, content in SECOND.items() if path != "guide/pump.md"}
    twice.ingest(moved | {"guide/water-pump.md": SECOND["guide/pump.md"]}, allow_shrink=True)
    twice.sweep()
    assert SLUG not in twice.stale()
    assert twice.lint().facts["errors"] == 0


def test_an_old_text_cites_the_chunks_where_they_are_now(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest(SECOND)
    wiki.night()
    elsewhere = {path: content for path, content in SECOND.items() if path != "guide/pump.md"}
    wiki.ingest(elsewhere | {"guide/other.md": SECOND["guide/pump.md"]}, allow_shrink=True)
    return_to(wiki, 1)
    with wiki.engine.connect() as connection:
        cited = {
            chunk_id
            for _, _, statement in statements_of(connection, page_id(wiki))
            for chunk_id in statement.chunk_ids
        }
    edges = {row[0] for row in wiki.rows("SELECT chunk_id FROM page_source")}
    alive = {row[0] for row in wiki.rows("SELECT id FROM chunk")}
    assert cited <= edges
    assert len(cited - alive) <= 1  # the chunk that was edited is gone, the others only moved


def test_another_recipe_or_title_does_not_move_a_pinned_page(
    engine: Engine, tmp_path: Path
) -> None:
    offline = Wiki(engine, tmp_path)
    for files in (FILES, SECOND):
        offline.ingest(files)
        offline.night()
    return_to(offline)
    offline.change("UPDATE topic SET title = 'Renamed' WHERE key = :slug", slug=SLUG)
    with ChatServer(write_pages) as server:
        modelled = model_wiki(engine, tmp_path, server)
        modelled.collection = offline.collection
        modelled.sweep()
        assert modelled.stale() == {"index": ["recipe"]}


def test_the_mark_for_single_chunks_spares_a_pin_that_holds(twice: Wiki) -> None:
    return_to(twice)
    chunks = [ChunkId(row[0]) for row in twice.rows("SELECT chunk_id FROM page_source")]
    index = twice.rows("SELECT id FROM page WHERE slug = 'index'")
    assert mark_pages_stale_for_chunks(twice.engine, chunks) == [index[0][0]]
    twice.ingest(edited("valve number 5 keeps", "valve number 5 opens", SECOND))
    assert page_id(twice) in mark_pages_stale_for_chunks(twice.engine, chunks)


def test_a_reader_is_still_told_which_cited_chunks_drifted(twice: Wiki) -> None:
    return_to(twice)
    chunks = [
        ChunkId(row[0])
        for row in twice.rows(
            "SELECT chunk_id FROM page_source WHERE page_id = :p", p=page_id(twice)
        )
    ]
    assert len(verify_citations(twice.engine, page_id(twice), chunks)) == 1


def test_why_tells_the_pin_and_the_chunks_that_it_hides(twice: Wiki) -> None:
    return_to(twice)
    assert twice.collection is not None
    identity = twice.app.generator.identity
    with twice.engine.connect() as connection:
        explanation = explain(
            connection,
            find_page(connection, twice.collection, SLUG),
            recipe=recipe_hash(identity),
            generator_kind=identity.kind,
            generator_name=identity.name,
        )
    assert explanation.state == "pinned"
    assert explanation.pinned_at is not None
    assert {chunk.reason for chunk in explanation.chunks} == {"content"}


def test_a_lost_vector_is_embedded_again(twice: Wiki) -> None:
    twice.change("DELETE FROM embedding")
    assert return_to(twice).embedded == 1
    assert twice.rows(
        "SELECT count(*) FROM embedding e JOIN page p ON p.embedding_hash = e.hash"
    ) == [(1,)]


def test_a_dry_run_changes_nothing(twice: Wiki) -> None:
    before = dump(twice.engine)
    told = return_to(twice, write=False)
    assert (told.restored, told.revision, told.embedded) == (1, None, 0)
    assert dump(twice.engine) == before


def test_a_missing_revision_lists_those_there_are(twice: Wiki) -> None:
    with pytest.raises(UnknownNameError, match=r"no revision 7; there are 1, 2"):
        return_to(twice, 7)


def test_the_first_revision_has_none_before_it(twice: Wiki) -> None:
    with pytest.raises(UnknownNameError, match=r"no revision before 1; there is 1"):
        return_to(twice, slug="index")


def test_a_page_without_a_text_has_no_revisions(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    with pytest.raises(UnknownNameError, match="has no revisions"):
        return_to(wiki)


def test_neither_the_overview_nor_a_retired_page_is_rolled_back(twice: Wiki) -> None:
    with pytest.raises(UsageError, match="derived"):
        return_to(twice, slug="overview")
    twice.ingest({"index.md": FILES["index.md"]}, allow_shrink=True)
    with pytest.raises(UsageError, match="retired"):
        return_to(twice)


def test_a_second_rollback_undoes_the_first_and_five_revisions_are_kept(twice: Wiki) -> None:
    for _ in range(6):
        return_to(twice)
    assert "pump number 3 loses" in body(twice)
    numbers = [
        row[0]
        for row in twice.rows(
            "SELECT revision FROM page_revision WHERE page_id = :p ORDER BY 1", p=page_id(twice)
        )
    ]
    assert numbers == [4, 5, 6, 7, 8]
    [(origin,)] = twice.rows(
        "SELECT content ->> 'restored_from' FROM page_revision WHERE revision = 8"
    )
    assert origin == "2"


def claim(wiki: Wiki) -> queue.QueuedPage:
    wiki.ingest(edited("valve number 5 keeps", "valve number 5 opens", SECOND))
    wiki.sweep()
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        [page] = queue.claim(
            connection,
            [wiki.collection],
            limit=1,
            lease=timedelta(minutes=5),
            which=QueueFilter(may_replace_model=True),
        )
        connection.commit()
    return page


def test_a_page_that_a_drain_is_compiling_is_refused_at_once(twice: Wiki) -> None:
    claim(twice)
    before = dump(twice.engine)["page"]
    with pytest.raises(PageLeasedError, match="being compiled"):
        return_to(twice)
    assert dump(twice.engine)["page"] == before


def test_a_drain_that_lost_its_lease_cannot_write_over_a_rollback(twice: Wiki) -> None:
    page = claim(twice)
    twice.change(
        "UPDATE page SET lease_until = now() - interval '1 second' WHERE slug = :s", s=SLUG
    )
    return_to(twice)
    assert twice.collection is not None
    with twice.engine.connect() as connection:
        found = revisions.find_revision(
            connection, find_page(connection, twice.collection, SLUG), 2
        )
        written = page_writing.write_page(
            connection, twice.collection, page.page_id, page.lease_token, found.page, []
        )
    assert not written


def test_a_sweep_that_ran_into_a_rollback_does_not_flag_the_page(twice: Wiki) -> None:
    twice.ingest(edited("valve number 5 keeps", "valve number 5 opens", SECOND))
    assert twice.collection is not None
    with twice.engine.connect() as connection, ThreadPoolExecutor(1) as other:
        page = find_page(connection, twice.collection, SLUG)
        old = revisions.find_revision(connection, page, 1)
        revisions.restore(connection, twice.collection, page.id, old)
        sweep = other.submit(twice.sweep)
        waiting = text(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND datname = current_database()"
        )
        with twice.engine.connect() as watch:
            while not watch.execute(waiting).scalar_one():
                watch.rollback()
        connection.commit()
        sweep.result(timeout=30)
    assert twice.stale() == {}
