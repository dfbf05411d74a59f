import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.providers.classification import Verdict, classify
from llmwiki.providers.http_answer import HttpAnswer
from llmwiki.providers.openai_client import open_client
from tests.providers.answer_case import Case, gemini, limited
from tests.providers.answers import CASES, document
from tests.support.chat_server import Answer, ChatServer

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
DOCUMENT = Path(__file__).parents[2] / "docs" / "provider-answers.md"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    """One for the table: a client's certificates take longer to load than an answer."""
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: ChatServer) -> Iterator[openai.OpenAI]:
    with open_client(base_url=server.url, api_key="key", request_timeout=5.0) as opened:
        yield opened


def outcome_of(client: openai.OpenAI) -> object:
    try:
        return client.chat.completions.create(model="m", messages=[])
    except (openai.OpenAIError, ValueError) as failure:
        return failure


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_answer_is_judged(case: Case, server: ChatServer, client: openai.OpenAI) -> None:
    server.enqueue(case.answer)
    before = server.requests

    verdict = classify(outcome_of(client), now=NOW)

    assert (verdict.kind, verdict.reason) == (case.kind, case.reason)
    assert verdict.seconds == pytest.approx(case.seconds)
    assert server.requests == before + 1


def test_the_table_in_the_documentation_is_made_from_these_cases() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document()


def test_the_message_of_the_service_is_kept_on_one_line(
    server: ChatServer, client: openai.OpenAI
) -> None:
    server.enqueue(limited(gemini("Quota\nexceeded " + "x" * 1000)))

    verdict = classify(outcome_of(client), now=NOW)

    assert verdict.message.startswith("Quota exceeded xxx")
    assert len(verdict.message) == 300
    assert verdict.status == 429


def test_the_message_of_the_service_is_printable(server: ChatServer, client: openai.OpenAI) -> None:
    hostile = "no\x1b[31m\r\n\u202eway\u2028\x00" + "y" * 1000
    server.enqueue(Answer(status=400, body=hostile), Answer(status=400, body={"message": hostile}))

    for _ in range(2):
        message = classify(outcome_of(client), now=NOW).message
        assert message.startswith("no [31m way yyy")
        assert message.isprintable()
        assert len(message) == 300


def test_a_time_out_is_retried() -> None:
    request = httpx2.Request("POST", "http://localhost")

    verdict = classify(openai.APITimeoutError(request), now=NOW)

    assert (verdict.kind, verdict.reason) == ("retry", "time-out")


@pytest.mark.parametrize("kind", [httpx2.UnsupportedProtocol, httpx2.LocalProtocolError])
def test_what_cannot_be_sent_at_all_is_a_matter_of_configuration(
    kind: type[httpx2.TransportError],
) -> None:
    failure = openai.APIConnectionError(request=httpx2.Request("POST", "http://localhost"))
    failure.__cause__ = kind("no")

    assert classify(failure, now=NOW).kind == "stop-configuration"


def test_an_unknown_exception_is_retried() -> None:
    assert classify(openai.OpenAIError("odd"), now=NOW).kind == "retry"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("retryDelay"), inner),
)


@given(
    body=json_values,
    status=st.integers(300, 599),
    retry_after=st.text(st.characters(codec="ascii", exclude_categories=["C"])),
)
def test_no_body_and_no_header_makes_it_raise(body: object, status: int, retry_after: str) -> None:
    response = httpx2.Response(
        status,
        headers={"retry-after": retry_after, "x-ratelimit-reset-requests": retry_after},
        request=httpx2.Request("POST", "http://localhost"),
    )
    failure = openai.APIStatusError("failed", response=response, body=body)

    assert classify(failure, now=NOW).reason


def test_a_body_nested_without_end_does_not_make_it_raise() -> None:
    response = httpx2.Response(429, request=httpx2.Request("POST", "http://localhost"))
    failure = openai.APIStatusError("failed", response=response, body="[" * 15_000)

    assert classify(failure, now=NOW).kind == "wait"


def test_plain_http_is_judged_as_the_openai_client_is() -> None:
    body = '{"error": {"message": "slow down"}}'
    limited = HttpAnswer(status=429, headers={"retry-after": "7"}, text=body)
    assert classify(limited, now=NOW) == Verdict(
        kind="wait", reason="asked-to-wait", message="slow down", status=429, seconds=7.0
    )
    page = HttpAnswer(status=200, text="<html></html>")
    assert classify(page, now=NOW).reason == "web-page"
    hidden = HttpAnswer(status=200, text='{"error": {"message": "busy", "code": 503}}')
    assert classify(hidden, now=NOW).reason == "server-error"
    assert classify(HttpAnswer(status=200, text="{}"), now=NOW).reason == "not-an-answer"
    assert classify(httpx2.ConnectError("refused"), now=NOW).reason == "connection"
    assert classify(httpx2.ReadTimeout("slow"), now=NOW).reason == "time-out"


@given(body=json_values | st.text(), status=st.integers(200, 599))
def test_no_answer_of_plain_http_makes_it_raise(body: object, status: int) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    answer = HttpAnswer(status=status, headers={"retry-after": text}, text=text)

    assert classify(answer, now=NOW).reason
    assert answer.usage.completion_tokens is None
