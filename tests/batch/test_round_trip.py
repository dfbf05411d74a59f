import json
from collections.abc import Callable

import pytest

from jobs import exit_codes
from llmwiki.errors import ConfigurationError
from tests.batch.batch_wiki import FILES, BatchWiki
from tests.support.batch_server import BatchServer
from tests.support.chat_server import completion
from tests.support.model import write_pages
from tests.support.wiki import Wiki

MakeWiki = Callable[..., BatchWiki]


def test_one_run_sends_and_the_next_writes_the_pages(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    sent = wiki.by_batch()
    assert sent.exit_code == exit_codes.DONE
    assert (sent.facts["submitted_requests"], sent.facts["submitted_pages"]) == (3, 8)
    assert (sent.facts["pending_requests"], sent.facts["pending_pages"]) == (3, 8)
    assert sent.facts["chat_calls"] == server.requests == 3
    assert wiki.generators() == {"extractive": 8}
    assert wiki.outcomes() == {None: 3}
    kept = "SELECT count(*) FROM page WHERE lease_until > now() + interval '25 hours'"
    assert wiki.rows(kept) == [(8,)]

    server.finish()
    collected = wiki.by_batch()
    assert collected.exit_code == exit_codes.DONE
    assert (collected.facts["collected_requests"], collected.facts["compiled"]) == (3, 8)
    assert collected.facts["chat_calls"] == 0
    assert collected.facts["pending_batches"] == 0
    assert wiki.generators() == {"model": 8}
    assert wiki.rows("SELECT outcome, sum(input_tokens) FROM call GROUP BY 1") == [("answered", 30)]
    assert wiki.lint().facts["errors"] == 0
    wiki.sweep()
    assert wiki.stale() == {}


def test_the_record_tells_that_the_pages_came_by_batch(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    wiki.by_batch()
    pages = wiki.rows(
        "SELECT payload FROM record WHERE payload->>'generator' = 'openai:test'"
        " AND kind = 'compile'"
    )
    assert {(row[0]["via"], row[0]["status"]) for row in pages} == {("batch", "compiled")}
    (last,) = wiki.rows(
        "SELECT payload FROM record WHERE kind = 'compile-batch' ORDER BY id DESC LIMIT 1"
    )
    assert last[0]["via"] == "batch"


def test_the_file_is_what_the_service_asks_for(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    (batch,) = server.batches.values()
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")
    (token,) = batch["metadata"].values()
    assert wiki.rows("SELECT token FROM batch") == [(token,)]
    assert server.files[batch["input_file_id"]][0] == f"llmwiki-{token}.jsonl"
    lines = server.lines(batch["id"])
    assert len({line["custom_id"] for line in lines}) == 3
    for line in lines:
        assert set(line) == {"custom_id", "method", "url", "body"}
        assert len(line["custom_id"]) <= 64
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        schema = line["body"]["response_format"]["json_schema"]["schema"]
        page = schema["properties"]["pages"]["items"]["properties"]
        assert list(page) == ["topic", "title", "tldr", "tags", "sections"]


def test_a_batch_under_way_is_left_alone_and_its_pages_are_nobody_elses(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    wiki.change("UPDATE page SET lease_until = now() + interval '1 minute' WHERE stale")
    for status in ("validating", "in_progress", "finalizing", "cancelling", "unheard-of"):
        server.batches["batch-1"]["status"] = status
        result = wiki.by_batch()
        assert result.exit_code == exit_codes.DONE
        assert (result.facts["pending_requests"], result.facts["submitted_requests"]) == (3, 0)
    assert wiki.drain().facts["compiled"] == 0
    kept = "SELECT count(*) FROM page WHERE lease_until > now() + interval '25 hours'"
    assert wiki.rows(kept) == [(8,)]
    assert len(server.batches) == 1


def test_a_second_collection_does_nothing(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    wiki.by_batch()
    revisions, counts = wiki.revisions(), server.counts.copy()
    result = wiki.by_batch()
    assert (result.facts["compiled"], result.facts["collected_requests"]) == (0, 0)
    assert wiki.revisions() == revisions
    assert server.counts == counts


def test_what_was_sent_is_let_go_once_it_is_answered(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    assert wiki.rows("SELECT count(*) FROM batch_request WHERE line <> ''") == [(3,)]
    server.finish()
    wiki.by_batch()
    assert wiki.rows("SELECT count(*) FROM batch_request WHERE line <> '' OR pages <> '[]'") == [
        (0,)
    ]


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_no_more_requests_are_sent_than_the_run_may_spend(
    make_wiki: MakeWiki, server: BatchServer, budget: int
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    result = wiki.by_batch(budget=budget)
    assert (result.exit_code, result.facts["stopped_reason"]) == (exit_codes.DONE, "budget")
    assert server.requests == result.facts["submitted_requests"] == budget
    assert wiki.rows("SELECT count(*) FROM page WHERE lease_until IS NOT NULL") == [(3 * budget,)]
    assert wiki.generators() == {"extractive": 8}


def test_the_caps_of_the_day_hold_over_runs_and_both_ways(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki(pages_per_call=1, chat_calls_per_night=5)
    wiki.ingest(FILES)
    wiki.by_batch(budget=3)
    wiki.by_batch()
    wiki.by_batch()
    assert wiki.drain().facts["stopped_reason"] == "budget"
    assert server.requests == 5
    assert wiki.rows("SELECT used FROM budget_day WHERE budget = 'chat'") == [(5,)]


def test_the_oldest_pages_are_sent_first(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch(budget=0)
    wiki.change("UPDATE page SET stale_since = now() - interval '1 day' WHERE slug = 'part6'")
    wiki.by_batch(budget=1)
    (line,) = server.lines("batch-1")
    assert "Part 6" in line["body"]["messages"][-1]["content"]


def test_a_page_whose_sources_came_back_is_not_sent(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    wiki.by_batch()
    wiki.change(
        "UPDATE page SET stale = true, stale_reasons = '{content}', stale_since = now()"
        " WHERE slug = 'part0'"
    )
    result = wiki.by_batch()
    assert (result.facts["skipped_unchanged"], result.facts["submitted_requests"]) == (1, 0)


def test_the_night_takes_the_same_way(make_wiki: MakeWiki, server: BatchServer) -> None:
    wiki = make_wiki()
    wiki.ingest(FILES)
    assert wiki.night_by_batch().facts["drain"]["submitted_requests"] == 3
    server.finish()
    night = wiki.night_by_batch()
    assert night.exit_code == exit_codes.DONE
    assert night.facts["drain"]["compiled"] == 8


def test_without_a_model_there_is_no_batch_to_send(wiki: Wiki, make_wiki: MakeWiki) -> None:
    offline = make_wiki()
    offline.ingest(FILES)
    offline.app.settings = wiki.settings
    with pytest.raises(ConfigurationError, match="--via batch"):
        offline.by_batch()


def test_an_answer_may_hold_any_separator_of_lines(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    def answer(request: dict[str, object]) -> str:
        pages = json.loads(write_pages(request))
        for page in pages["pages"]:
            page["tags"] = ["one\u2028two", "three\u0085four"]
        return json.dumps(pages, ensure_ascii=False)

    server.answerer = answer
    wiki = make_wiki()
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    assert wiki.by_batch().facts["compiled"] == 8


def test_the_gate_judges_as_it_does_in_a_drain(make_wiki: MakeWiki, server: BatchServer) -> None:
    def invent(request: dict[str, object]) -> str:
        answer = json.loads(write_pages(request))
        for section in answer["pages"][1]["sections"]:
            for statement in section["statements"]:
                statement["text"] = "The answer is 4711 at https://invented.example/x."
        return json.dumps(answer)

    server.answerer = invent
    wiki = make_wiki(pages_per_call=8)
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    result = wiki.by_batch()
    assert (result.exit_code, result.facts["failed"]) == (exit_codes.FAILURES, 1)
    assert wiki.generators() == {"extractive": 1, "model": 7}
    assert wiki.rows("SELECT attempts, last_error <> '' FROM page WHERE attempts > 0") == [
        (1, True)
    ]


def test_what_an_answer_had_no_room_for_is_asked_again_without_blame(
    make_wiki: MakeWiki, server: BatchServer
) -> None:
    def cut_off(request: dict[str, object]) -> object:
        text = write_pages(request)
        return completion(text[: len(text) // 2], finish_reason="length")

    server.answerer = cut_off  # type: ignore[assignment]
    wiki = make_wiki(pages_per_call=8)
    wiki.ingest(FILES)
    wiki.by_batch()
    server.finish()
    result = wiki.by_batch(budget=0)
    written = result.facts["compiled"]
    assert 0 < written < 8
    assert (result.facts["failed"], result.facts["given_back"]) == (0, 8 - written)
