from collections.abc import Callable

import pytest

from jobs import exit_codes
from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.errors import BudgetExhaustedError, ConfigurationError
from tests.batch.batch_wiki import FILES, BatchWiki
from tests.support.batch_server import BatchServer, Fault
from tests.support.wiki import prose

MakeWiki = Callable[..., BatchWiki]
REFUSED_LINE = {"response": {"status_code": 400, "body": {"error": {"message": "too odd"}}}}
LIMITED_LINE = {"response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}}


def sent(make_wiki: MakeWiki, **values: int) -> BatchWiki:
    wiki = make_wiki(**values)
    wiki.ingest(FILES)
    wiki.by_batch()
    return wiki


def waiting(wiki: BatchWiki) -> tuple[int, int]:
    """Return how many pages wait in the queue for anybody, and the attempts counted."""
    (row,) = wiki.rows(
        "SELECT count(*) FILTER (WHERE stale AND lease_until IS NULL), sum(attempts) FROM page"
    )
    return row[0], row[1]


def test_an_expired_batch_keeps_what_was_finished(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = sent(make_wiki)
    server.finish("expired", answered=1)
    result = wiki.by_batch(budget=0)
    assert result.exit_code == exit_codes.DONE
    assert (result.facts["compiled"], result.facts["given_back"]) == (3, 5)
    assert wiki.generators() == {"extractive": 5, "model": 3}
    assert wiki.outcomes() == {"answered": 1, "expired": 2}
    assert waiting(wiki) == (5, 0)
    assert wiki.by_batch().facts["submitted_pages"] == 5


def test_a_cancelled_batch_gives_back_what_it_did_not_do(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish("cancelled", answered=2)
    result = wiki.by_batch(budget=0)
    assert (result.facts["compiled"], result.facts["given_back"]) == (6, 2)
    assert wiki.outcomes() == {"answered": 2, "cancelled": 1}
    assert waiting(wiki) == (2, 0)


def test_a_completed_batch_may_have_no_file_at_all(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish(without_files=True)
    result = wiki.by_batch(budget=0)
    assert (result.exit_code, result.facts["given_back"]) == (exit_codes.DONE, 8)
    assert wiki.states() == ["collected"]
    assert waiting(wiki) == (8, 0)


def test_a_completed_batch_may_have_nothing_but_errors(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish(answered=0, errors=dict.fromkeys(range(3), REFUSED_LINE))
    result = wiki.by_batch(budget=0)
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.FAILURES, 8)
    assert wiki.outcomes() == {"http-400": 3}
    assert wiki.rows("SELECT DISTINCT last_error, attempts FROM page WHERE stale") == [
        ("too odd", 1)
    ]


def test_a_request_that_failed_counts_against_its_pages_only(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish(errors={1: REFUSED_LINE})
    result = wiki.by_batch(budget=0)
    assert (result.facts["compiled"], result.facts["failed"]) == (5, 3)
    assert waiting(wiki) == (3, 3)


def test_a_limit_of_the_account_is_nobodys_failure(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish(errors={1: LIMITED_LINE})
    result = wiki.by_batch(budget=0)
    assert (result.facts["compiled"], result.facts["given_back"]) == (5, 3)
    assert waiting(wiki) == (3, 0)


def test_a_page_that_fails_again_and_again_is_quarantined(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    for _ in range(2):
        server.finish(answered=0, errors=dict.fromkeys(range(3), REFUSED_LINE))
        wiki.by_batch(budget=0)
        wiki.change("UPDATE page SET not_before = NULL")
        wiki.by_batch()
    assert wiki.rows("SELECT count(*) FROM page WHERE quarantined_at IS NOT NULL") == [(8,)]
    assert len(server.batches) == 2


def test_a_file_that_is_refused_as_a_whole_frees_its_pages_and_is_told(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.refuse("line 1 is no JSON")
    result = wiki.by_batch(budget=0)
    assert result.exit_code == exit_codes.FAILURES
    assert result.facts["errors"] == ["line 1 is no JSON"]
    assert wiki.rows("SELECT state, error FROM batch") == [("failed", "line 1 is no JSON")]
    assert wiki.outcomes() == {"failed": 3}
    assert waiting(wiki) == (8, 0)


def test_lines_that_nobody_asked_for_are_ignored_and_counted(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    first = server.lines("batch-1")[0]["custom_id"]
    server.finish(
        extra_lines=[
            {"custom_id": first, "response": {"status_code": 200, "body": {"choices": []}}},
            {"custom_id": "page-4711-lease-1", "response": {"status_code": 200, "body": {}}},
            {"custom_id": None},
        ]
    )
    result = wiki.by_batch()
    assert (result.facts["compiled"], result.facts["ignored_lines"]) == (8, 3)


def test_a_page_that_another_worker_took_is_not_written(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    wiki.change("UPDATE page SET lease_token = lease_token + 1 WHERE slug = 'part0'")
    server.finish()
    assert wiki.by_batch(budget=0).facts["compiled"] == 7
    assert wiki.rows("SELECT generator_kind FROM page WHERE slug = 'part0'") == [("extractive",)]
    lost = "SELECT count(*) FROM record WHERE payload->>'status' = 'lease-lost'"
    assert wiki.rows(lost) == [(1,)]


def test_a_page_whose_sources_moved_meanwhile_is_written_and_stays_stale(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    text = FILES["part0.md"].replace("number 3 keeps", "number 3 loses")
    wiki.ingest(FILES | {"part0.md": text})
    wiki.sweep()
    server.finish()
    assert wiki.by_batch(budget=0).facts["compiled"] == 8
    assert wiki.stale() == {"part0": ["content"]}
    wiki.sweep()
    assert wiki.stale() == {"part0": ["content"]}
    assert wiki.by_batch().facts["submitted_pages"] == 1
    server.finish()
    wiki.by_batch()
    assert wiki.stale() == {}
    (body,) = wiki.rows("SELECT body FROM page WHERE slug = 'part0'")
    assert "number 3 loses" in body[0]


def test_labels_are_read_by_what_was_sent_although_the_chunks_are_gone(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    wiki.ingest(FILES | {"part0.md": "# Part 0\n\nNothing is left of it.\n"})
    server.finish()
    result = wiki.by_batch(budget=0)
    assert (result.facts["compiled"], result.facts["failed"]) == (8, 0)
    assert set(wiki.stale()) == {"part0"}


def test_a_page_that_was_retired_meanwhile_stays_as_it_was(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    wiki.ingest({name: text for name, text in FILES.items() if name != "part0.md"})
    server.finish()
    result = wiki.by_batch()
    assert (result.facts["compiled"], result.facts["given_back"]) == (7, 1)
    (page,) = wiki.rows(
        "SELECT generator_kind, retired_at IS NULL, lease_until FROM page WHERE slug = 'part0'"
    )
    assert page == ("extractive", False, None)
    assert wiki.lint().facts["errors"] == 0


def test_a_page_whose_sources_came_back_meanwhile_keeps_its_text(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    wiki.by_batch()
    text = FILES["part0.md"].replace("number 3 keeps", "number 3 loses")
    wiki.ingest(FILES | {"part0.md": text})
    wiki.sweep()
    assert wiki.by_batch().facts["submitted_pages"] == 1
    wiki.ingest(FILES)
    wiki.sweep()
    revisions = wiki.revisions()
    server.finish()
    assert wiki.by_batch().facts["given_back"] == 1
    assert wiki.revisions() == revisions
    assert wiki.stale() == {}


def test_a_collection_that_was_deleted_meanwhile_keeps_nobody(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    wiki.change("DELETE FROM collection")
    server.finish()
    wiki.by_batch()
    assert wiki.states() == ["collected"]
    assert wiki.outcomes() == {"answered": 3}


def test_a_batch_of_other_collections_is_left_to_a_run_over_them(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    other = make_wiki()
    other.name = "other"
    other.ingest({"only.md": FILES["part0.md"]})
    assert other.by_batch(budget=0).facts["collected_batches"] == 0
    assert wiki.by_batch(budget=0).facts["collected_batches"] == 1


def test_a_batch_of_another_service_is_left_to_it(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = sent(make_wiki)
    wiki.change("UPDATE batch SET service = 'https://elsewhere.example/v1/'")
    server.finish()
    counts = server.counts.copy()
    result = wiki.by_batch(budget=0)
    assert (result.facts["collected_batches"], result.facts["pending_batches"]) == (0, 1)
    assert server.counts == counts


def test_a_service_that_is_down_is_asked_again_by_the_next_run(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    server.faults["GET /v1/batches/*"].append(Fault())
    result = wiki.by_batch()
    assert (result.exit_code, result.facts["stopped_reason"]) == (
        exit_codes.STOPPED_EARLY,
        "outage",
    )
    assert wiki.by_batch().facts["compiled"] == 8


def test_a_web_page_in_the_place_of_the_answers_loses_none(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    server.faults["GET /v1/files/*/content"].append(
        Fault(status=200, body="<html>\n<p>Please log in.</p>\n</html>")
    )
    result = wiki.by_batch()
    assert (result.exit_code, len(result.facts["errors"])) == (exit_codes.FAILURES, 1)
    assert wiki.states() == ["submitted"]
    assert wiki.by_batch().facts["compiled"] == 8


@pytest.mark.parametrize("lost", ["batches", "files"])
def test_what_the_service_forgot_is_given_up_after_a_week(
    make_wiki: MakeWiki, server: BatchServer, lost: str
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    getattr(server, lost).clear()
    early = wiki.by_batch(budget=0)
    assert (early.exit_code, early.facts["pending_batches"]) == (exit_codes.FAILURES, 1)
    wiki.change("UPDATE batch SET created_at = now() - interval '8 days'")
    result = wiki.by_batch(budget=0)
    assert (result.exit_code, result.facts["given_back"]) == (exit_codes.FAILURES, 8)
    assert wiki.states() == ["failed"]


def test_a_service_without_a_batch_api_gets_its_refusal_told(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    server.faults["POST /v1/batches"].append(
        Fault(status=400, body={"error": {"message": "this endpoint takes no batch"}})
    )
    with pytest.raises(ConfigurationError, match="takes no batch"):
        wiki.by_batch()
    assert wiki.states() == ["failed"]
    assert wiki.outcomes() == {"not-sent": 3}
    assert waiting(wiki) == (8, 0)


def test_an_embedder_without_budget_stops_the_collection_which_goes_on_later(
    make_wiki: MakeWiki, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = sent(make_wiki)
    server.finish()
    finish = PageFinisher.finish
    written: list[object] = []

    def finish_four(self: PageFinisher, *arguments: object) -> object:
        if len(written) == 4:
            raise BudgetExhaustedError
        written.append(arguments)
        return finish(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(PageFinisher, "finish", finish_four)
    result = wiki.by_batch()
    assert (result.facts["compiled"], result.facts["stopped_reason"]) == (4, "budget")
    assert result.facts["submitted_requests"] == 0
    monkeypatch.undo()
    assert wiki.by_batch().facts["compiled"] == 4
    assert wiki.rows("SELECT DISTINCT revision FROM page WHERE kind = 'page'") == [(2,)]


def test_a_page_that_had_to_be_cut_is_read_by_what_was_shown_and_cites_it(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki(max_input_tokens=2000)
    wiki.ingest({"long.md": f"# Long\n\n{prose('pump', sentences=120)}\n"})
    wiki.by_batch()
    (pages,) = wiki.rows("SELECT pages FROM batch_request")
    (page,) = pages[0]
    assert 0 < len(page["shown"]) < len(page["sources"]["chunks"])
    server.finish()
    assert wiki.by_batch().facts["compiled"] == 1
    cited = {row[0] for row in wiki.rows("SELECT unnest(chunk_ids) FROM statement")}
    assert cited <= set(page["shown"])
    (edges,) = wiki.rows("SELECT source_count FROM page WHERE slug = 'long'")
    assert edges == (len(page["sources"]["chunks"]),)
