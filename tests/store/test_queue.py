from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.store import page_leases, queue
from llmwiki.store.collections import create_collection
from llmwiki.store.contents import add_pages
from llmwiki.store.queue import QueuedPage, QueueFilter
from llmwiki.store.topics import insert_topics

ANY = QueueFilter(may_replace_model=True)
LEASE = timedelta(minutes=5)


@pytest.fixture
def collection(engine: Engine) -> Collection:
    with engine.connect() as connection:
        identity = EmbedderIdentity(name="test", dimension=2)
        made = create_collection(connection, "docs", "system", identity)
        topics = [(f"page-{number}", f"Page {number}", "", number) for number in range(20)]
        ids = insert_topics(connection, made, topics)
        pages = [(i, key, title) for i, (key, title, _, _) in zip(ids, topics, strict=True)]
        add_pages(connection, made, pages)
        connection.commit()
    return made


def claim(
    engine: Engine, collection: Collection, limit: int = 5, which: QueueFilter = ANY
) -> list[QueuedPage]:
    with engine.connect() as connection:
        pages = queue.claim(connection, [collection], limit=limit, lease=LEASE, which=which)
        connection.commit()
    return pages


def change(engine: Engine, statement: str) -> None:
    with engine.connect() as connection:
        connection.execute(text(statement))
        connection.commit()


def keys(pages: list[QueuedPage]) -> list[str]:
    return [page.topic.key for page in pages]


def test_pages_are_claimed_oldest_first(engine: Engine, collection: Collection) -> None:
    change(engine, "UPDATE page SET stale_since = now() - interval '1 day' WHERE slug = 'page-13'")
    assert keys(claim(engine, collection, 3)) == ["page-13", "page-0", "page-1"]


def test_a_claimed_page_is_not_claimed_again_before_its_lease_ends(
    engine: Engine, collection: Collection
) -> None:
    first = claim(engine, collection, 20)
    assert len(first) == 20
    assert claim(engine, collection, 20) == []
    change(engine, "UPDATE page SET lease_until = now() - interval '1 s' WHERE slug = 'page-4'")
    (again,) = claim(engine, collection, 20)
    assert again.lease_token == first[4].lease_token + 1


def test_workers_at_once_never_share_a_page(engine: Engine, collection: Collection) -> None:
    with ThreadPoolExecutor(8) as workers:
        claimed = list(workers.map(lambda _: claim(engine, collection, 3), range(8)))
    slugs = [key for pages in claimed for key in keys(pages)]
    assert len(slugs) == len(set(slugs)) == 20


def test_a_failure_waits_for_its_retry_and_ends_in_quarantine(
    engine: Engine, collection: Collection
) -> None:
    for attempt in (1, 2):
        page = claim(engine, collection, 1)[0]
        assert page.topic.key == "page-0"
        with engine.connect() as connection:
            page_leases.note_failure(
                connection, page, "too short", retry_after=timedelta(hours=1), max_attempts=2
            )
            connection.commit()
            counts = queue.count_queue(connection, [collection])
        assert (counts.stale, counts.waiting, counts.quarantined) == (20, 1, attempt - 1)
        if attempt == 1:
            assert keys(claim(engine, collection, 1)) == ["page-1"]
            change(engine, "UPDATE page SET not_before = NULL, lease_until = NULL")
    change(engine, "UPDATE page SET not_before = NULL, lease_until = NULL")
    assert keys(claim(engine, collection, 1)) == ["page-1"]


def test_a_failure_of_a_lost_lease_changes_nothing(engine: Engine, collection: Collection) -> None:
    (page,) = claim(engine, collection, 1)
    change(engine, "UPDATE page SET lease_token = lease_token + 1")
    with engine.connect() as connection:
        page_leases.note_failure(
            connection, page, "late", retry_after=timedelta(hours=1), max_attempts=1
        )
        connection.commit()
        attempts = connection.execute(text("SELECT max(attempts) FROM page")).scalar_one()
    assert attempts == 0


def test_a_page_that_a_model_wrote_is_passed_over_by_a_generator_that_may_not_replace_it(
    engine: Engine, collection: Collection
) -> None:
    change(engine, "UPDATE page SET generator_kind = 'model' WHERE slug <> 'page-7'")
    assert keys(claim(engine, collection, 20, QueueFilter(may_replace_model=False))) == ["page-7"]


def test_current_drafts_that_only_wait_for_an_upgrade_are_not_drafted_again(
    engine: Engine, collection: Collection
) -> None:
    change(engine, "UPDATE page SET stale_reasons = '{recipe}' WHERE slug <> 'page-3'")
    change(engine, "UPDATE page SET stale_reasons = '{added,recipe}' WHERE slug = 'page-3'")
    which = QueueFilter(may_replace_model=False, outdated_text_only=True)
    assert keys(claim(engine, collection, 20, which)) == ["page-3"]


def test_a_released_page_can_be_claimed_at_once_and_lost_no_attempt(
    engine: Engine, collection: Collection
) -> None:
    pages = claim(engine, collection, 2)
    with engine.connect() as connection:
        page_leases.release(connection, pages)
        connection.commit()
    assert keys(claim(engine, collection, 2)) == keys(pages)


def test_retired_pages_are_not_in_the_queue(engine: Engine, collection: Collection) -> None:
    change(engine, "UPDATE page SET retired_at = now() WHERE slug <> 'page-2'")
    assert keys(claim(engine, collection, 20)) == ["page-2"]
