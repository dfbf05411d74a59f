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


def test_a_chunk_that_changed_is_scored_anew(served: Session, server: RerankServer) -> None:
    candidates = ordered(*TEXTS)
    served(candidates)
    changed = replace(candidates[0].chunk, text="how many retries", content_hash="other")

    assert served([replace(candidates[0], chunk=changed), *candidates[1:]]) == [1, 3, 2]
    assert not served.detail.from_cache
    assert server.requests == 2


def test_a_heading_that_changed_is_scored_anew(served: Session, server: RerankServer) -> None:
    candidates = ordered(*TEXTS)
    served(candidates)
    moved = replace(candidates[0].chunk, breadcrumb=("how many", "retries"))

    served([replace(candidates[0], chunk=moved), *candidates[1:]])

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
    assert {context.ranking[0].chunk.document_path for context in contexts} == {"disk.md"}
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


@pytest.fixture
def hanging(served: Session, server: RerankServer) -> Session:
    """A service that fails, with a budget that would let it fail for long, and nothing kept."""
    served.settings = served.settings.model_copy(update={"cache_ttl": timedelta(0)})
    server.answerer = lambda _request: Answer(status=503)
    assert isinstance(served.reranker, ServiceReranker)
    served.reranker = ServiceReranker(
        "cohere",
        open_service("cohere", base_url=server.url, api_key=None),
        "m",
        RetryPolicy(
            meter=LedgerMeter(engine=served.engine, limits=replace(LIMITS, caps={"rerank": 1000})),
            clock=FakeClock(),
            budget="rerank",
            max_attempts=1,
        ),
    )
    return served


def ask_in_vain(session: Session, times: int) -> None:
    for _ in range(times):
        assert_fused_order_stands(session, ordered(*TEXTS))


def let_pass(session: Session, minutes: int) -> None:
    """Move what the ledger knows into the past."""
    session.execute(
        "UPDATE call SET reserved_at = reserved_at - make_interval(mins => :minutes), "
        "settled_at = settled_at - make_interval(mins => :minutes)",
        minutes=minutes,
    )


def call_in_flight(session: Session) -> None:
    """Have another process ask the service."""
    session.execute(
        "INSERT INTO call (budget, day, purpose, subject) "
        "VALUES ('rerank', current_date, 'rerank', 'cohere m: 3 chunks')"
    )


def test_a_service_that_failed_in_a_row_rests_and_the_event_says_until_when(
    hanging: Session, server: RerankServer
) -> None:
    ask_in_vain(hanging, 3)

    assert hanging(ordered(*TEXTS)) == [1, 2, 3]

    assert server.requests == 3
    assert (hanging.last.status, hanging.last.reason) == ("skipped", "circuit-open")
    assert hanging.detail.method == "identity"
    assert hanging.last.usage == Usage()
    message = str(hanging.last.message)
    assert message.startswith("the last 3 calls to cohere m failed; it is not asked until 2")
    assert message.endswith(" UTC")


def test_after_the_cool_down_one_question_tries_and_its_failure_begins_the_rest_anew(
    hanging: Session, server: RerankServer
) -> None:
    ask_in_vain(hanging, 3)
    let_pass(hanging, minutes=6)

    ask_in_vain(hanging, 1)
    hanging(ordered(*TEXTS))

    assert server.requests == 4
    assert hanging.last.reason == "circuit-open"


def test_an_answer_after_the_cool_down_closes_the_circuit(
    hanging: Session, server: RerankServer
) -> None:
    ask_in_vain(hanging, 3)
    let_pass(hanging, minutes=6)
    server.enqueue(ranking([(0, 0.1), (1, 0.2), (2, 0.3)]))

    assert hanging(ordered(*TEXTS)) == [3, 2, 1]
    ask_in_vain(hanging, 3)

    assert server.requests == 7


def test_while_one_question_tries_the_others_wait_for_what_comes_of_it(
    hanging: Session, server: RerankServer
) -> None:
    ask_in_vain(hanging, 3)
    let_pass(hanging, minutes=6)
    call_in_flight(hanging)

    hanging(ordered(*TEXTS))

    assert hanging.last.reason == "circuit-open"
    assert server.requests == 3


def test_calls_that_died_with_their_process_are_failures_and_calls_in_flight_are_none(
    hanging: Session, server: RerankServer
) -> None:
    ask_in_vain(hanging, 3)
    hanging.execute("UPDATE call SET settled_at = NULL, outcome = NULL")
    ask_in_vain(hanging, 1)
    hanging.execute("DELETE FROM call WHERE settled_at IS NOT NULL")
    let_pass(hanging, minutes=1)

    hanging(ordered(*TEXTS))

    assert hanging.last.reason == "circuit-open"
    assert server.requests == 4


@pytest.mark.parametrize("status", [400, 401])
def test_a_service_that_refuses_is_well_and_does_not_rest(
    hanging: Session, server: RerankServer, status: int
) -> None:
    server.answerer = lambda _request: Answer(status=status)

    ask_in_vain(hanging, 5)

    assert server.requests == 5


def test_without_a_cool_down_a_service_is_always_asked(
    hanging: Session, server: RerankServer
) -> None:
    hanging.settings = hanging.settings.model_copy(update={"cool_down": timedelta(0)})
    call_in_flight(hanging)

    ask_in_vain(hanging, 5)

    assert server.requests == 5


def test_another_model_is_asked_at_once(hanging: Session, server: RerankServer) -> None:
    ask_in_vain(hanging, 3)
    hanging.execute("UPDATE call SET subject = 'cohere other: 3 chunks'")

    ask_in_vain(hanging, 1)

    assert server.requests == 4
