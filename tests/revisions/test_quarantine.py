import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from llmwiki.compiler.quarantine import drop, retry
from llmwiki.errors import UnknownNameError
from llmwiki.store.pages import find_page
from llmwiki.store.quarantine import quarantined_pages
from llmwiki.store.refused_drafts import StoredRefusal, refusals_of
from tests.revisions.conftest import FILES, SLUG, body, edited, model_wiki
from tests.support.chat_server import ChatServer
from tests.support.model import write_pages
from tests.support.wiki import Wiki

INVENTED = "The answer is 4711 at https://invented.example/x."


def invent(request: dict[str, Any]) -> str:
    """Answer well, but for the page about pumps, of which every statement is invented."""
    answer = json.loads(write_pages(request))
    for page in answer["pages"]:
        if "Pump" in page["title"]:
            for section in page["sections"]:
                for statement in section["statements"]:
                    statement["text"] = INVENTED
    return json.dumps(answer)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(invent) as running:
        yield running


@pytest.fixture
def poisoned(engine: Engine, tmp_path: Path, server: ChatServer) -> Wiki:
    """A wiki of which the page about pumps was refused twice, and quarantined for it."""
    wiki = model_wiki(engine, tmp_path, server)
    wiki.ingest(FILES)
    fail_again(wiki)
    fail_again(wiki)
    assert quarantined(wiki) == [SLUG]
    return wiki


def fail_again(wiki: Wiki) -> None:
    wiki.change("UPDATE page SET not_before = NULL")
    wiki.night()


def quarantined(wiki: Wiki) -> list[str]:
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        return [page.slug for page in quarantined_pages(connection, [wiki.collection])]


def refusals(wiki: Wiki) -> list[StoredRefusal]:
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        return list(refusals_of(connection, find_page(connection, wiki.collection, SLUG).id))


def test_a_refused_draft_is_kept_with_what_offended(poisoned: Wiki) -> None:
    newest = refusals(poisoned)[0]
    refusal = newest.refusal
    assert refusal.refusal.startswith("nothing-left:")
    assert refusal.generator == "openai:test"
    assert refusal.draft.sections[0].statements[0].text == INVENTED
    assert {dropped.text for dropped in refusal.dropped} == {INVENTED}
    reasons = {dropped.reason for dropped in refusal.dropped}
    assert reasons <= {"unsupported-detail", "unrelated", "repeated"}
    assert newest.run_id is not None
    assert "4711" not in body(poisoned)


def test_three_refused_drafts_of_a_page_are_kept(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    wiki = model_wiki(engine, tmp_path, server, attempts=9)
    wiki.ingest(FILES)
    for _ in range(5):
        fail_again(wiki)
    assert wiki.rows("SELECT attempts FROM page WHERE slug = :s", s=SLUG) == [(5,)]
    runs = [stored.run_id for stored in refusals(wiki)]
    assert len(runs) == 3
    assert runs == sorted(runs, key=lambda run: -(run or 0))


def test_a_quarantined_page_stays_until_its_sources_move(
    poisoned: Wiki, server: ChatServer
) -> None:
    spent = server.requests
    poisoned.night()
    assert server.requests == spent
    poisoned.ingest(edited("pump number 3 keeps", "pump number 3 loses"))
    server.answerer = write_pages
    dry = poisoned.night(dry_run=True)
    assert [page["page"] for page in dry.facts["drain"]["would_compile"]] == [SLUG]
    poisoned.night()
    assert quarantined(poisoned) == []
    assert "pump number 3 loses" in body(poisoned)
    assert poisoned.stale() == {}
    assert poisoned.rows("SELECT count(*) FROM page WHERE attempts > 0") == [(0,)]


def test_sources_that_move_by_addition_release_a_page_as_well(
    poisoned: Wiki, server: ChatServer
) -> None:
    server.answerer = write_pages
    poisoned.ingest(edited("## Valve", "## Seal\n\nThe seal is made of rubber.\n\n## Valve"))
    poisoned.sweep()
    assert quarantined(poisoned) == []
    [(attempts, edges)] = poisoned.rows(
        "SELECT attempts, quarantined_edges FROM page WHERE slug = :s", s=SLUG
    )
    assert (attempts, edges) == (0, None)


def test_retry_gives_a_page_all_its_attempts_again(poisoned: Wiki, server: ChatServer) -> None:
    assert poisoned.collection is not None
    server.answerer = write_pages
    [page] = retry(poisoned.engine, [poisoned.collection], [SLUG])
    assert page.attempts == 2
    poisoned.night()
    assert poisoned.rows("SELECT generator_kind FROM page WHERE slug = :s", s=SLUG) == [("model",)]
    assert retry(poisoned.engine, [poisoned.collection], None) == []


def test_a_dropped_page_keeps_its_text_out_of_the_queue_until_its_sources_move(
    poisoned: Wiki, server: ChatServer
) -> None:
    assert poisoned.collection is not None
    before = body(poisoned)
    assert [page.has_text for page in drop(poisoned.engine, [poisoned.collection], [SLUG])] == [
        True
    ]
    spent = server.requests
    result = poisoned.night()
    assert (server.requests, quarantined(poisoned), poisoned.stale()) == (spent, [], {})
    assert result.facts["lint"]["codes"] == {}
    assert body(poisoned) == before
    server.answerer = write_pages
    poisoned.ingest(edited("pump number 3 keeps", "pump number 3 loses"))
    poisoned.night()
    assert "pump number 3 loses" in body(poisoned)


def test_a_page_without_a_text_can_be_dropped(poisoned: Wiki) -> None:
    assert poisoned.collection is not None
    poisoned.change(
        "UPDATE page SET compiled_at = NULL, stale_reasons = '{never-compiled}' WHERE slug = :s",
        s=SLUG,
    )
    assert [page.has_text for page in drop(poisoned.engine, [poisoned.collection], [SLUG])] == [
        False
    ]
    poisoned.sweep()
    assert poisoned.stale() == {}


def test_a_name_that_is_not_in_quarantine_changes_nothing(poisoned: Wiki) -> None:
    assert poisoned.collection is not None
    with pytest.raises(UnknownNameError, match=r"not in quarantine: index; there are guide/pump"):
        retry(poisoned.engine, [poisoned.collection], [SLUG, "index"])
    assert quarantined(poisoned) == [SLUG]
    drop(poisoned.engine, [poisoned.collection], [SLUG])
    with pytest.raises(UnknownNameError, match="the quarantine is empty"):
        drop(poisoned.engine, [poisoned.collection], [SLUG])
