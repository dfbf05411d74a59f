import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from llmwiki.bootstrap import App
from llmwiki.config import RerankSettings
from llmwiki.domain import Usage
from llmwiki.providers.rerank_services import ServiceReranker, open_service
from llmwiki.providers.retries import RetryPolicy
from llmwiki.retrieval.rerank import RerankDetail
from llmwiki.retrieval.service import retrieve
from llmwiki.store.engine import Database
from llmwiki.store.ledger import LedgerMeter, budget_state
from tests.providers.conftest import FakeClock
from tests.support.candidates import ordered
from tests.support.chat_server import Answer
from tests.support.rerank_server import RerankServer, ranking
from tests.support.reranking import (
    LIMITS,
    Session,
    Stub,
    assert_fused_order_stands,
    backwards,
)
from tests.support.wiki import Wiki

DEADLINE = 0.2
TEXTS = ("nothing of it", "how many", "how many retries")


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


@pytest.fixture
def served(session: Session, server: RerankServer) -> Session:
    """A session whose reranker is a service, with three calls a day."""
    session.reranker = ServiceReranker(
        "cohere",
        open_service("cohere", base_url=server.url, api_key=None),
        "m",
        RetryPolicy(
            meter=LedgerMeter(engine=session.engine, limits=LIMITS),
            clock=FakeClock(),
            budget="rerank",
            max_attempts=2,
        ),
    )
    return session


def test_a_question_that_is_asked_again_costs_no_call(
    served: Session, server: RerankServer
) -> None:
    candidates = ordered(*TEXTS)

    assert served(candidates) == [3, 2, 1]
    assert not served.detail.from_cache
    assert served.last.usage == Usage(rerank_calls=1, input_tokens=30)

    shuffled = (candidates[1], candidates[0], candidates[2])
    assert served(shuffled) == [3, 2, 1]
    assert served.detail == RerankDetail(
        method="cohere", model="m", input_chunks=3, output_chunks=3, from_cache=True
    )
    assert served.last.usage == Usage()
    assert server.requests == served.spent == 1


def test_a_passage_that_changed_is_scored_anew(served: Session, server: RerankServer) -> None:
    candidates = ordered(*TEXTS)
    served(candidates)
    changed = replace(candidates[0].passage, text="how many retries", content_hash="other")

    assert served([replace(candidates[0], passage=changed), *candidates[1:]]) == [1, 3, 2]
    assert not served.detail.from_cache
    assert server.requests == 2


def test_a_heading_that_changed_is_scored_anew(served: Session, server: RerankServer) -> None:
    candidates = ordered(*TEXTS)
    served(candidates)
    moved = replace(candidates[0].passage, breadcrumb=("how many", "retries"))

    served([replace(candidates[0], passage=moved), *candidates[1:]])

    assert server.requests == 2


def test_scores_whose_time_is_over_are_asked_for_anew(
    served: Session, server: RerankServer
) -> None:
    served(ordered(*TEXTS))
    served.execute("UPDATE kept_answer SET expires_at = clock_timestamp()")

    served(ordered(*TEXTS))

    assert not served.detail.from_cache
    assert server.requests == 2


def test_without_a_time_to_live_nothing_is_kept(served: Session, server: RerankServer) -> None:
    served.settings = served.settings.model_copy(update={"cache_ttl": timedelta(0)})

    served(ordered(*TEXTS))
    served(ordered(*TEXTS))

    assert server.requests == 2


def test_kept_scores_that_are_too_few_for_this_question_are_asked_for_anew(
    served: Session, server: RerankServer
) -> None:
    server.enqueue(ranking([(2, 0.9)]))
    candidates = ordered(*TEXTS)

    assert served(candidates, 1) == [3]
    assert served(candidates, 2) == [3, 2]
    assert not served.detail.from_cache


@pytest.mark.parametrize("value", ['"x"', "{}", '{"scores": {"1": "high"}}', '{"scores": [1]}'])
def test_a_kept_value_that_is_none_is_a_miss(
    served: Session, server: RerankServer, value: str
) -> None:
    served(ordered(*TEXTS))
    served.execute("UPDATE kept_answer SET value = CAST(:value AS jsonb)", value=value)

    assert served(ordered(*TEXTS)) == [3, 2, 1]
    assert server.requests == 2


def test_a_cache_that_is_broken_costs_a_call_and_nothing_else(
    served: Session, server: RerankServer
) -> None:
    served.execute("ALTER TABLE kept_answer RENAME TO lost")
    try:
        for _ in range(2):
            assert served(ordered(*TEXTS)) == [3, 2, 1]
            assert served.last.status == "done"
    finally:
        served.execute("ALTER TABLE lost RENAME TO kept_answer")
    assert server.requests == 2


def test_the_scores_of_a_model_of_ones_own_are_not_kept(session: Session) -> None:
    stub = session.reranker = Stub(backwards)

    session(ordered("a", "b"))
    session(ordered("a", "b"))

    assert len(stub.asked) == 2


def test_an_exhausted_budget_leaves_the_fused_order_and_sends_nothing(
    served: Session, server: RerankServer
) -> None:
    served.settings = served.settings.model_copy(update={"cache_ttl": timedelta(0)})
    for _ in range(3):
        served(ordered(*TEXTS))

    assert_fused_order_stands(served, ordered(*TEXTS))
    assert served.last.error == "BudgetExhaustedError"
    assert served.last.usage == Usage()
    assert server.requests == served.spent == 3


@pytest.mark.parametrize(
    ("answer", "error", "calls"),
    [
        (Answer(status=500), "TransientProviderError", 2),
        (Answer(status=429, body={"message": "monthly limit"}), "QuotaExhaustedError", 1),
        (Answer(status=401), "ConfigurationError", 1),
        (Answer(body="<html></html>"), "ConfigurationError", 1),
        (Answer(body=b'{"results": [{"ind'), "InvalidAnswerError", 1),
        (ranking([(0, 0.0), (1, 0.0), (2, 0.0)]), "InvalidAnswerError", 1),
        (ranking([(0, 0.5), (0, 0.4), (1, 0.3)]), "InvalidAnswerError", 1),
        (ranking([(0, 0.5), (1, float("nan")), (2, 0.1)]), "InvalidAnswerError", 1),
    ],
)
def test_whatever_a_service_does_the_event_tells_the_error_and_the_calls(
    served: Session, server: RerankServer, answer: Answer, error: str, calls: int
) -> None:
    server.answerer = lambda _request: answer

    assert_fused_order_stands(served, ordered(*TEXTS))
    assert served.last.error == error
    assert served.last.usage.rerank_calls == server.requests == served.spent == calls


def test_a_lie_is_not_kept(served: Session, server: RerankServer) -> None:
    server.enqueue(ranking([(0, 0.0), (1, 0.0), (2, 0.0)]))

    served(ordered(*TEXTS))

    assert served(ordered(*TEXTS)) == [3, 2, 1]
    assert not served.detail.from_cache


@pytest.mark.parametrize("answer", [Answer(delay=20.0), Answer(trickle=0.01)])
def test_a_service_that_hangs_is_given_up_at_the_deadline(
    served: Session, server: RerankServer, answer: Answer
) -> None:
    server.enqueue(answer)
    served.settings = served.settings.model_copy(update={"deadline": DEADLINE})
    started_at = time.monotonic()

    assert_fused_order_stands(served, ordered(*TEXTS))
    assert time.monotonic() - started_at < 10 * DEADLINE
    assert served.last.error == "TransientProviderError"
    assert server.requests <= served.spent <= 1


def test_a_failure_is_told_to_the_listener_between_other_steps(served: Session) -> None:
    served.reranker = Stub(lambda _texts: [])

    served(ordered(*TEXTS))

    active, failed = served.events
    assert active.facts()["status"] == "active"
    facts = failed.facts()
    assert facts["detail"]["kind"] == "rerank"
    assert facts["detail"]["method"] == "identity"
    assert facts["error"] == "InvalidAnswerError"
    assert facts["usage"] == {"rerank_calls": 1}


def test_a_question_goes_through_the_service_of_the_configuration(
    wiki: Wiki, server: RerankServer
) -> None:
    wiki.ingest(
        {
            "backup.md": "# Backups\n\nA backup runs on Sunday.",
            "disk.md": "# Disks\n\nA full disk raises an alert.",
        }
    )
    chosen = RerankSettings(provider="jina", model="m", base_url=server.url, deadline=20.0)
    settings = wiki.settings.model_copy(update={"rerank": chosen})
    app = App(settings=settings, database=Database(engine=wiki.engine))

    contexts = [retrieve(app.retrieval, "when does a full disk raise alerts") for _ in range(2)]

    assert server.requests == 1
    assert server.bodies[0]["query"] == "when does a full disk raise alerts"
    assert {context.ranking[0].passage.document_path for context in contexts} == {"disk.md"}
    told = [
        event.detail
        for context in contexts
        for event in context.events
        if isinstance(event.detail, RerankDetail)
    ]
    assert [(detail.method, detail.model, detail.from_cache) for detail in told] == [
        ("jina", "m", False),
        ("jina", "m", True),
    ]
    with wiki.engine.connect() as connection:
        assert budget_state(connection, "rerank", app.limits).used == 1
