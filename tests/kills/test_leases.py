"""A lease is renewed before each request; a worker that lost it can write nothing."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, Engine

from jobs import exit_codes
from llmwiki.config import GeneratorSettings, Settings
from llmwiki.domain import PageId
from llmwiki.store import page_leases, queue
from llmwiki.store.queue import QueuedPage, QueueFilter
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import HASHING, Wiki, prose

FILES = {f"part{n}.md": f"# Part {n}\n\n{prose(f'part{n}')}\n" for n in range(6)}
LEASE = timedelta(minutes=30)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(write_pages) as running:
        yield running


@pytest.fixture
def wiki(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    """A wiki that a model is to write, three pages in a request."""
    settings = Settings(
        embedder=HASHING,
        generator=GeneratorSettings(
            provider="openai",
            model="test",
            base_url=server.url,
            api_key=SecretStr("key"),
            pages_per_call=3,
            max_attempts=1,
        ),
    )
    made = Wiki(engine, tmp_path, settings)
    made.ingest(FILES)
    return made


def take_over(wiki: Wiki) -> list[str]:
    """Let the time of all leases pass and claim their pages, as another worker would."""
    wiki.change("UPDATE page SET lease_until = now() - interval '1 s' WHERE lease_until > now()")
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        pages = queue.claim(
            connection,
            [wiki.collection],
            limit=3,
            lease=LEASE,
            which=QueueFilter(may_replace_model=True),
        )
        connection.commit()
    return [page.topic.key for page in pages]


def statuses(wiki: Wiki) -> dict[str, int]:
    return dict(
        wiki.rows("SELECT payload->>'status', count(*) FROM record WHERE page_id > 0 GROUP BY 1")
    )


def test_what_a_zombie_brings_back_is_discarded_and_recorded(
    wiki: Wiki, server: ChatServer
) -> None:
    taken: list[str] = []
    before: list[tuple[Any, ...]] = []

    def answer_late(request: dict[str, Any]) -> str:
        if not taken:
            taken.extend(take_over(wiki))
            before.extend(wiki.rows("SELECT slug, body, revision, lease_token FROM page"))
        return write_pages(request)

    server.answerer = answer_late
    result = wiki.drain()

    assert len(taken) == 3
    rows = wiki.rows("SELECT slug, body, revision, lease_token FROM page")
    assert {row for row in rows if row[0] in taken} == {row for row in before if row[0] in taken}
    assert statuses(wiki) == {"compiled": 6 + 3, "lease-lost": 3}
    assert (result.facts["compiled"], result.facts["failed"]) == (9, 0)
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until > now()") == [(3,)]


def test_what_is_lost_while_the_answer_is_being_written_is_recorded_as_well(
    wiki: Wiki, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of the lease has passed, so that it is renewed between two pages."""
    wiki.drain(budget=0)
    monkeypatch.setattr("llmwiki.compiler.drain.open_pages.SHARE_OF_LEASE", 1e9)
    taken: list[str] = []

    def answer_late(request: dict[str, Any]) -> str:
        if not taken:
            taken.extend(take_over(wiki))
        return write_pages(request)

    server.answerer = answer_late
    result = wiki.drain()

    assert (result.facts["compiled"], result.facts["failed"]) == (3, 0)
    assert statuses(wiki) == {"compiled": 6 + 3, "lease-lost": 3}


def test_a_failure_of_a_zombie_counts_no_attempt(wiki: Wiki, server: ChatServer) -> None:
    taken: list[str] = []

    def refuse_late(request: dict[str, Any]) -> str:
        if taken:
            return write_pages(request)
        taken.extend(take_over(wiki))
        return write_pages(request).replace('"sources": ["c', '"sources": ["x')

    server.answerer = refuse_late
    result = wiki.drain()

    assert result.exit_code == exit_codes.DONE
    assert statuses(wiki) == {"compiled": 9, "lease-lost": 3}
    assert wiki.rows("SELECT max(attempts) FROM page") == [(0,)]


def test_no_request_is_spent_on_pages_that_another_worker_has(
    wiki: Wiki, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker sleeps between its claim and its request, and wakes up as a zombie."""
    wiki.drain(budget=0)
    taken: list[str] = []
    renew = page_leases.renew

    def renew_late(
        connection: Connection, pages: Sequence[QueuedPage], *, lease: timedelta
    ) -> set[PageId]:
        if not taken:
            taken.extend(take_over(wiki))
        return renew(connection, pages, lease=lease)

    monkeypatch.setattr(page_leases, "renew", renew_late)
    assert wiki.drain().facts["compiled"] == 3

    [request] = server.bodies
    titles = {title for title, key in wiki.rows("SELECT title, key FROM topic") if key in taken}
    assert len(titles) == 3
    assert not any(f'"{title}"' in request["messages"][-1]["content"] for title in titles)


def test_the_lease_begins_anew_before_each_request(wiki: Wiki, server: ChatServer) -> None:
    left: list[float] = []

    def answer(request: dict[str, Any]) -> str:
        left.append(
            wiki.rows("SELECT extract(epoch FROM min(lease_until) - now()) FROM page")[0][0]
        )
        wiki.change(
            "UPDATE page SET lease_until = now() + interval '1 s' WHERE lease_until > now()"
        )
        return write_pages(request)

    server.answerer = answer
    wiki.drain()

    assert len(left) == 2
    assert min(left) > LEASE.total_seconds() - 60


def test_only_pages_that_still_need_a_compile_keep_their_lease(wiki: Wiki) -> None:
    assert wiki.collection is not None
    everything = QueueFilter(may_replace_model=True)
    with wiki.engine.connect() as connection:
        pages = queue.claim(connection, [wiki.collection], limit=6, lease=LEASE, which=everything)
        connection.commit()
    slugs = [page.topic.key for page in pages]
    wiki.change("UPDATE page SET lease_token = lease_token + 1 WHERE slug = :slug", slug=slugs[1])
    wiki.change("UPDATE page SET retired_at = now() WHERE slug = :slug", slug=slugs[3])
    wiki.change("UPDATE page SET stale = false WHERE slug = :slug", slug=slugs[4])

    with wiki.engine.connect() as connection:
        kept = page_leases.renew(connection, pages, lease=LEASE)

    assert kept == {pages[0].page_id, pages[2].page_id, pages[5].page_id}
