import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.providers.classification import classify
from llmwiki.providers.openai_client import open_client
from tests.support.chat_server import Answer, ChatServer

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


class Case(NamedTuple):
    """One answer of a provider and what it means."""

    name: str
    answer: Answer
    kind: str
    reason: str
    seconds: float | None = None


def error(message: str, **fields: object) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


def gemini(
    message: str, *, quota_id: str | None = None, delay: str | None = None, code: int = 429
) -> list[dict[str, Any]]:
    """Gemini's compatible endpoint puts its error into a list."""
    details: list[dict[str, Any]] = []
    if quota_id:
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": quota_id,
        }
        failure = "type.googleapis.com/google.rpc.QuotaFailure"
        details.append({"@type": failure, "violations": [violation]})
    if delay:
        info = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": info, "retryDelay": delay})
    body = {"code": code, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    return [{"error": body}]


def limited(body: object = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=429, body=body or error("Rate limit reached"), headers=named)


GEMINI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
DAILY_ID = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
MINUTE_ID = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
TOO_LONG_VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 5021 tokens."
)
GROQ_DAY = (
    "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on requests "
    "per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 1m26.4s."
)
GROQ_MINUTE = (
    "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on tokens "
    "per minute (TPM): Limit 6000, Used 5500, Requested 900. Please try again in 4.5s."
)
AZURE = "Requests to the ChatCompletions_Create Operation have exceeded the token rate limit."

CASES = [
    # Quotas that are gone
    Case(
        "openai-insufficient-quota",
        limited(error(GEMINI_QUOTA, type="insufficient_quota", code="insufficient_quota")),
        "stop-quota",
        "quota-exhausted",
    ),
    Case(
        "openai-insufficient-quota-with-retry-after",
        limited(error("You exceeded it", code="insufficient_quota"), retry_after="2"),
        "stop-quota",
        "quota-exhausted",
    ),
    Case(
        "gemini-daily-quota-with-short-delay",
        limited(gemini(GEMINI_QUOTA, quota_id=DAILY_ID, delay="5s")),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "gemini-daily-quota-stringified-by-openrouter",
        limited(
            error(
                "Provider returned error",
                code=429,
                metadata={"raw": json.dumps(gemini("quota", quota_id=DAILY_ID, delay="5s"))},
            )
        ),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "litellm-message-with-python-bytes",
        limited(error(f'litellm.RateLimitError: b\'{{\\n "quotaId": "{DAILY_ID}"}}\'')),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "body-is-a-json-string-of-json",
        limited(json.dumps(json.dumps(gemini("q", quota_id=DAILY_ID))).encode()),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "gemini-quota-id-with-another-word",
        limited(gemini(GEMINI_QUOTA, quota_id="RequestsDailyFreeTier", delay="5s")),
        "stop-quota",
        "daily-quota",
    ),
    Case("groq-requests-per-day", limited(error(GROQ_DAY)), "stop-quota", "daily-quota"),
    Case(
        "openai-tokens-per-day",
        limited(error("Rate limit reached for gpt-5 on tokens per day (TPD): Limit 1, Used 1")),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "openrouter-free-models-per-day",
        limited(error("Rate limit exceeded: free-models-per-day. Add 10 credits", code=429)),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "groq-no-requests-left",
        limited(
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests="6s",
            x_groq_region="fra",
        ),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "no-requests-left-for-hours",
        limited(x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="5h2m59.56s"),
        "stop-quota",
        "daily-quota",
    ),
    Case(
        "azure-retry-after-a-day-in-words",
        limited(error(f"{AZURE} Please retry after 86400 seconds.", code="429")),
        "stop-quota",
        "long-delay",
    ),
    Case("retry-after-ten-minutes", limited(retry_after="600"), "stop-quota", "long-delay"),
    Case(
        "openrouter-no-credits",
        Answer(status=402, body=error("This request requires more credits", code=402)),
        "stop-quota",
        "quota-exhausted",
    ),
    Case(
        "anthropic-balance-as-bad-request",
        Answer(status=400, body=error("Your credit balance is too low to access the API.")),
        "stop-quota",
        "quota-exhausted",
    ),
    Case(
        "dashscope-free-tier-as-403",
        Answer(
            status=403,
            body=error("The free tier of the model has been exhausted.", code="FreeTierOnly"),
        ),
        "stop-quota",
        "quota-exhausted",
    ),
    Case(
        "maintenance-for-an-hour",
        Answer(status=503, body=error("maintenance"), headers={"Retry-After": "3600"}),
        "stop-quota",
        "long-delay",
    ),
    # Limits that pass
    Case("retry-after-seconds", limited(retry_after="7"), "wait", "asked-to-wait", 7.0),
    Case("retry-after-zero", limited(retry_after="0"), "wait", "asked-to-wait", 0.0),
    Case(
        "retry-after-ms-first",
        limited(retry_after="9", retry_after_ms="1500"),
        "wait",
        "asked-to-wait",
        1.5,
    ),
    Case(
        "retry-after-date",
        limited(retry_after="Sun, 01 Mar 2026 02:00:30 GMT"),
        "wait",
        "asked-to-wait",
        30.0,
    ),
    Case(
        "retry-after-date-in-the-past",
        limited(retry_after="Sun, 01 Mar 2026 01:00:00 GMT"),
        "wait",
        "asked-to-wait",
        0.0,
    ),
    Case("retry-after-nonsense", limited(retry_after="soon"), "wait", "rate-limit"),
    Case(
        "gemini-minute-quota",
        limited(gemini(GEMINI_QUOTA, quota_id=MINUTE_ID, delay="38.5s")),
        "wait",
        "asked-to-wait",
        38.5,
    ),
    Case(
        "gemini-delay-in-words",
        limited(gemini(f"{GEMINI_QUOTA}\nPlease retry in 12.25s.")),
        "wait",
        "asked-to-wait",
        12.25,
    ),
    Case("groq-tokens-per-minute", limited(error(GROQ_MINUTE)), "wait", "asked-to-wait", 4.5),
    Case(
        "azure-retry-after-in-words",
        limited(error(f"{AZURE} Please retry after 35 seconds.", code="429")),
        "wait",
        "asked-to-wait",
        35.0,
    ),
    Case(
        "openai-milliseconds-in-words",
        limited(error("Rate limit reached on RPM. Please try again in 130ms.")),
        "wait",
        "asked-to-wait",
        0.13,
    ),
    Case(
        "openai-no-requests-left-this-minute",
        limited(x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="20s"),
        "wait",
        "asked-to-wait",
        20.0,
    ),
    Case(
        "openrouter-free-models-per-minute",
        limited(error("Rate limit exceeded: free-models-per-min. ", code=429)),
        "wait",
        "rate-limit",
    ),
    Case(
        "weknora-gateway-403-per-minute",
        Answer(status=403, body=error("rate limit: 60 requests per minute exceeded")),
        "wait",
        "rate-limit",
    ),
    Case(
        "mistral-plain",
        limited({"message": "Requests rate limit exceeded"}),
        "wait",
        "rate-limit",
    ),
    Case("limit-without-a-body", limited(b" "), "wait", "rate-limit"),
    Case(
        "overloaded-with-hint",
        Answer(status=503, body=error("overloaded"), headers={"Retry-After": "20"}),
        "wait",
        "asked-to-wait",
        20.0,
    ),
    Case(
        "rate-limit-inside-200",
        Answer(body=error("Rate limit exceeded: free-models-per-min.", code=429)),
        "wait",
        "rate-limit",
    ),
    # Failures that may pass
    Case(
        "gemini-overloaded",
        Answer(status=503, body=gemini("The model is overloaded.", code=503)),
        "retry",
        "server-error",
    ),
    Case("anthropic-529", Answer(status=529, body=error("Overloaded")), "retry", "server-error"),
    Case(
        "nginx-bad-gateway",
        Answer(status=502, body="<html><body>502 Bad Gateway</body></html>"),
        "retry",
        "server-error",
    ),
    Case(
        "vllm-conflict",
        Answer(status=409, body=error("engine is loading")),
        "retry",
        "server-busy",
    ),
    Case(
        "lm-studio-error-inside-200",
        Answer(body={"error": "Model is unloaded."}),
        "retry",
        "server-error",
    ),
    Case(
        "openrouter-upstream-failed-midway",
        Answer(
            body={
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "error",
                        "message": {"role": "assistant", "content": "half"},
                        "error": {"code": 502, "message": "Upstream error"},
                    }
                ]
            }
        ),
        "retry",
        "server-error",
    ),
    Case("json-cut-off", Answer(body=b'{"choices": [{"ind'), "retry", "answer-cut-off"),
    Case("connection-reset", Answer(reset=True), "retry", "connection"),
    # Configuration
    Case(
        "openai-wrong-key",
        Answer(status=401, body=error("Incorrect API key provided", code="invalid_api_key")),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "forbidden",
        Answer(status=403, body=error("You are not allowed to sample from this model")),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "ollama-no-such-model",
        Answer(
            status=404,
            body=error('model "llama9" not found, try pulling it first', type="api_error"),
        ),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "vllm-no-such-model",
        Answer(
            status=404,
            body={"object": "error", "message": "The model `x` does not exist.", "code": 404},
        ),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "gemini-key-as-bad-request",
        Answer(status=400, body=gemini("API key not valid. Please pass a valid key.", code=400)),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "azure-no-such-deployment",
        Answer(status=404, body=error("Resource not found", code="DeploymentNotFound")),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "redirect-to-a-login",
        Answer(status=307, headers={"Location": "/login"}),
        "stop-configuration",
        "request-refused",
    ),
    Case(
        "web-page-with-200",
        Answer(body="<!DOCTYPE html><html><body>Welcome</body></html>"),
        "stop-configuration",
        "web-page",
    ),
    Case(
        "openrouter-key-inside-200",
        Answer(body=error("No auth credentials found", code=401)),
        "stop-configuration",
        "request-refused",
    ),
    # This request or this answer
    Case(
        "vllm-context-length",
        Answer(status=400, body={"object": "error", "message": TOO_LONG_VLLM, "code": 400}),
        "invalid",
        "too-long",
    ),
    Case(
        "openai-context-length",
        Answer(status=400, body=error("Too much", code="context_length_exceeded")),
        "invalid",
        "too-long",
    ),
    Case(
        "groq-request-larger-than-the-limit-per-minute",
        Answer(status=413, body=error("Request too large: tokens per minute (TPM): Limit 6000")),
        "invalid",
        "too-long",
    ),
    Case(
        "openai-request-larger-than-the-limit-per-minute",
        limited(error("Request too large for gpt-5 on tokens per min (TPM): Limit 10000")),
        "invalid",
        "too-long",
    ),
    Case(
        "azure-content-filter",
        Answer(status=400, body=error("The response was filtered", code="content_filter")),
        "invalid",
        "unanswerable",
    ),
    Case(
        "groq-model-wrote-no-json",
        Answer(status=400, body=error("Failed to generate JSON.", code="json_validate_failed")),
        "invalid",
        "unanswerable",
    ),
    Case("stream-with-200", Answer(body="data: {}\n\n"), "invalid", "not-json"),
    Case("no-choices-with-200", Answer(body={"choices": None}), "invalid", "not-an-answer"),
    Case("null-with-200", Answer(body=b"null"), "invalid", "not-an-answer"),
    Case("list-with-200", Answer(body=[1, 2]), "invalid", "not-an-answer"),
]


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


def test_the_message_of_the_service_is_kept_on_one_line(
    server: ChatServer, client: openai.OpenAI
) -> None:
    server.enqueue(limited(gemini("Quota\nexceeded " + "x" * 1000)))

    verdict = classify(outcome_of(client), now=NOW)

    assert verdict.message.startswith("Quota exceeded xxx")
    assert len(verdict.message) == 300
    assert verdict.status == 429


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
