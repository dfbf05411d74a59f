import math
import socket
import time
from collections.abc import Iterator
from typing import get_args

import pytest

from llmwiki.config.retrieval import RerankService
from llmwiki.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    InvalidAnswerError,
    LlmwikiError,
    QuotaExhaustedError,
    TransientProviderError,
)
from llmwiki.providers.json_service import LARGEST_ANSWER
from llmwiki.providers.rerank_services import ServiceReranker, open_service
from llmwiki.providers.retries import RetryPolicy
from tests.providers.conftest import FakeClock, FakeMeter
from tests.support.chat_server import Answer
from tests.support.rerank_server import RerankServer, ranking, voyage_ranking

KEY = "rk-0123456789abcdef"
QUESTION = "what is good"
TEXTS = ["this is good", "nothing", "what is good is good"]
BY_WORDS = ((0, 2 / 3), (1, 0.0), (2, 1.0))
PATIENCE = 5.0
BRIEF = 0.05


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


def reranker(
    server: RerankServer | str,
    meter: FakeMeter,
    service: RerankService = "cohere",
    clock: FakeClock | None = None,
) -> ServiceReranker:
    url = server if isinstance(server, str) else server.url
    return ServiceReranker(
        service,
        open_service(service, base_url=url, api_key=KEY),
        "rerank-test",
        RetryPolicy(meter=meter, clock=clock or FakeClock(), budget="rerank", max_attempts=2),
    )


@pytest.mark.parametrize("service", get_args(RerankService))
def test_a_question_and_its_chunks_are_one_request(
    server: RerankServer, meter: FakeMeter, service: RerankService
) -> None:
    asked = reranker(server, meter, service)

    answer = asked.score(QUESTION, TEXTS, timeout=PATIENCE)

    assert sorted(answer.scores) == [*BY_WORDS]
    assert (asked.identity.method, asked.identity.name) == (service, "rerank-test")
    [request] = server.bodies
    limit = request.pop("top_k" if service == "voyage" else "top_n")
    assert limit == 3
    assert request == {"model": "rerank-test", "query": QUESTION, "documents": TEXTS}
    assert dict(server.counts) == {"/v1/rerank": 1}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("service", get_args(RerankService))
def test_a_request_is_a_unit_of_the_ledger_that_is_settled_with_its_tokens(
    server: RerankServer, meter: FakeMeter, service: RerankService
) -> None:
    answer = reranker(server, meter, service).score(QUESTION, TEXTS, timeout=PATIENCE)

    [unit] = meter.calls
    assert (unit.budget, unit.purpose, unit.subject) == (
        "rerank",
        "rerank",
        f"{service} rerank-test: 3 chunks",
    )
    assert unit.settled == [("answered", 200, 30, 0)]
    assert (answer.usage.rerank_calls, answer.usage.input_tokens) == (1, 30)


def test_an_answer_without_tokens_is_one_all_the_same(
    server: RerankServer, meter: FakeMeter
) -> None:
    server.enqueue(Answer(body={"results": [{"index": 0, "relevance_score": 1}]}))

    answer = reranker(server, meter).score(QUESTION, ["good"], timeout=PATIENCE)

    assert answer.scores == ((0, 1.0),)
    assert answer.usage.input_tokens == 0


@pytest.mark.parametrize(
    "rows", [[(0, math.nan), (1, math.inf)], [(7, 0.5), (7, 0.5), (-1, 0.5)], []]
)
def test_what_the_service_says_is_passed_on_unchecked(
    server: RerankServer, meter: FakeMeter, rows: list[tuple[int, float]]
) -> None:
    server.enqueue(ranking(rows))

    answer = reranker(server, meter).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert str(answer.scores) == str(tuple(rows))


def test_a_failure_is_tried_once_more(server: RerankServer, meter: FakeMeter) -> None:
    server.enqueue(Answer(status=500))

    answer = reranker(server, meter).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert answer.usage.rerank_calls == 2
    assert meter.outcomes == ["server-error", "answered"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(body={"error": f"no worker for {KEY}"}), "server-error"),
        (Answer(status=500), "server-error"),
        (Answer(status=503, body="<html>busy</html>"), "server-error"),
        (Answer(status=429), "rate-limit"),
        (Answer(reset=True), "connection"),
        (Answer(body={"error": {"message": "overloaded", "code": 503}}), "server-error"),
    ],
)
def test_a_second_failure_is_the_last(
    server: RerankServer, meter: FakeMeter, answer: Answer, outcome: str
) -> None:
    server.enqueue(answer, answer)

    with pytest.raises(TransientProviderError) as caught:
        reranker(server, meter).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert KEY not in str(caught.value)
    assert caught.value.calls == server.requests == 2
    assert meter.outcomes == [outcome, outcome]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(status=401, body={"message": f"invalid api token {KEY}"}), ConfigurationError),
        (Answer(status=302, headers={"Location": f"/login?{KEY}"}), ConfigurationError),
        (Answer(status=404, body={"message": "model rerank-test not found"}), ConfigurationError),
        (Answer(status=402, body={"detail": "out of credits"}), QuotaExhaustedError),
        (Answer(status=429, body={"message": "1000 calls per month"}), QuotaExhaustedError),
        (Answer(status=413), InvalidAnswerError),
        (Answer(body="<!doctype html><html></html>"), ConfigurationError),
        (Answer(body=b""), InvalidAnswerError),
        (Answer(body=b'{"results": [{"index": 0, "relevance_'), InvalidAnswerError),
        (Answer(body=b"\xff\xfe\x00"), InvalidAnswerError),
        (Answer(body=b"[" * 100_000), InvalidAnswerError),
        (Answer(body=b"9" * 10_000), InvalidAnswerError),
        (Answer(body=[1, 2]), InvalidAnswerError),
        (Answer(body={"scores": [0.5]}), InvalidAnswerError),
        (Answer(body={"results": {"0": 0.5}}), InvalidAnswerError),
        (ranking([("0", 0.5)]), InvalidAnswerError),
        (ranking([(0, None)]), InvalidAnswerError),
        (ranking([(0, 10**400)]), InvalidAnswerError),
        (Answer(body={"results": [None]}), InvalidAnswerError),
        (Answer(body=b" " * (LARGEST_ANSWER + 1)), InvalidAnswerError),
        (voyage_ranking([(0, 0.5)]), InvalidAnswerError),
    ],
)
def test_what_no_repetition_changes_is_sent_once_and_never_shows_the_key(
    server: RerankServer, meter: FakeMeter, answer: Answer, error: type[LlmwikiError]
) -> None:
    server.answerer = lambda _request: answer

    with pytest.raises(error) as caught:
        reranker(server, meter).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert KEY not in f"{caught.value}{caught.value.__cause__}"
    assert caught.value.calls == server.requests == 1
    assert len(meter.outcomes) == 1


def test_a_service_that_asks_for_more_time_than_there_is_is_not_asked_again(
    server: RerankServer, meter: FakeMeter, clock: FakeClock
) -> None:
    server.enqueue(Answer(status=429, headers={"Retry-After": "20"}))

    with pytest.raises(TransientProviderError) as caught:
        reranker(server, meter, clock=clock).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert caught.value.calls == server.requests == 1
    assert clock.slept == []


@pytest.mark.parametrize(
    "answer", [Answer(delay=30.0), Answer(trickle=0.01), Answer(status=500, trickle=0.01)]
)
def test_a_service_that_hangs_or_trickles_is_given_up_within_its_time(
    server: RerankServer, meter: FakeMeter, answer: Answer
) -> None:
    server.enqueue(answer)
    started_at = time.monotonic()

    with pytest.raises(TransientProviderError, match="given up after 1 attempts: time-out"):
        reranker(server, meter).score(QUESTION, TEXTS, timeout=BRIEF)

    assert time.monotonic() - started_at < 40 * BRIEF
    assert meter.outcomes == ["time-out"]


def test_a_connection_that_is_refused_is_a_failure(meter: FakeMeter) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"

        with pytest.raises(TransientProviderError, match="connection"):
            reranker(url, meter).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert meter.outcomes == ["connection", "connection"]


def test_without_a_unit_of_the_budget_nothing_is_sent(server: RerankServer) -> None:
    with pytest.raises(BudgetExhaustedError) as caught:
        reranker(server, FakeMeter(cap=0)).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert caught.value.calls == server.requests == 0


def test_a_second_attempt_needs_a_unit_too(server: RerankServer) -> None:
    server.enqueue(Answer(status=500))

    with pytest.raises(BudgetExhaustedError) as caught:
        reranker(server, FakeMeter(cap=1)).score(QUESTION, TEXTS, timeout=PATIENCE)

    assert caught.value.calls == server.requests == 1


@pytest.mark.parametrize("service", get_args(RerankService))
def test_the_vendor_itself_needs_a_key(service: RerankService) -> None:
    with pytest.raises(ConfigurationError, match=f"no API key for {service}: set rerank.api_key"):
        open_service(service, base_url=None, api_key=None)


def test_a_service_of_ones_own_needs_none(server: RerankServer, meter: FakeMeter) -> None:
    asked = ServiceReranker(
        "jina",
        open_service("jina", base_url=server.url + "/", api_key=None),
        "own-model",
        RetryPolicy(meter=meter, clock=FakeClock(), budget="rerank"),
    )

    asked.score(QUESTION, TEXTS, timeout=PATIENCE)

    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize("key", ["rk-1\n", "rk 1", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(key: str) -> None:
    with pytest.raises(ConfigurationError, match="API key contains") as caught:
        open_service("cohere", base_url=None, api_key=key)

    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080", "http://[::1", "ftp://x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        open_service("cohere", base_url=url, api_key=KEY)
