"""Answers of providers, as data, and what the drain does after each.

test_classification.py sends every one over HTTP to the real client, and tests/kills sends it to
the whole drain. The table in the documentation is made from the same data:

    python -m tests.providers.answers > docs/provider-answers.md
"""

import json
import sys
from typing import Any, NamedTuple, assert_never

from llmwiki.domain import StoppedReason
from llmwiki.providers.classification import REFUSED, VerdictKind
from llmwiki.providers.signs import LONGEST_WAIT
from tests.support.chat_server import Answer


class Case(NamedTuple):
    """One answer of a provider and what it means."""

    name: str
    answer: Answer
    kind: VerdictKind
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
        "key-refused",
    ),
    Case(
        "forbidden",
        Answer(status=403, body=error("You are not allowed to sample from this model")),
        "stop-configuration",
        REFUSED,
    ),
    Case(
        "ollama-no-such-model",
        Answer(
            status=404,
            body=error('model "llama9" not found, try pulling it first', type="api_error"),
        ),
        "stop-configuration",
        "no-such-model",
    ),
    Case(
        "vllm-no-such-model",
        Answer(
            status=404,
            body={"object": "error", "message": "The model `x` does not exist.", "code": 404},
        ),
        "stop-configuration",
        "no-such-model",
    ),
    Case(
        "gemini-key-as-bad-request",
        Answer(status=400, body=gemini("API key not valid. Please pass a valid key.", code=400)),
        "stop-configuration",
        "key-refused",
    ),
    Case(
        "azure-no-such-deployment",
        Answer(status=404, body=error("Resource not found", code="DeploymentNotFound")),
        "stop-configuration",
        "no-such-model",
    ),
    Case(
        "redirect-to-a-login",
        Answer(status=307, headers={"Location": "/login"}),
        "stop-configuration",
        "redirected",
    ),
    Case(
        "get-where-post-was-sent",
        Answer(status=405, body={"detail": "Method Not Allowed"}),
        "stop-configuration",
        "wrong-address",
    ),
    Case(
        "account-flagged",
        Answer(status=403, body=error("Your account has been flagged for abuse.")),
        "stop-configuration",
        REFUSED,
    ),
    Case(
        "bad-request-without-a-known-word",
        Answer(status=400, body=error("Invalid request: unsupported content")),
        "stop-configuration",
        REFUSED,
    ),
    Case(
        "mistral-unknown-parameter",
        Answer(
            status=422,
            body={"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"]}]},
        ),
        "stop-configuration",
        REFUSED,
    ),
    Case(
        "no-such-path-or-page",
        Answer(status=404, body={"detail": "Not Found"}),
        "stop-configuration",
        REFUSED,
    ),
    Case("blocked-by-law", Answer(status=451, body="blocked"), "stop-configuration", REFUSED),
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
        "key-refused",
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
    Case(
        "openai-invalid-prompt",
        Answer(status=400, body=error("Your prompt was flagged", code="invalid_prompt")),
        "invalid",
        "unanswerable",
    ),
    Case(
        "openrouter-moderation",
        Answer(status=403, body=error("Your input was flagged by moderation", code=403)),
        "invalid",
        "unanswerable",
    ),
    Case(
        "blocked-by-a-safety-system",
        Answer(status=451, body=error("Rejected by our safety system")),
        "invalid",
        "unanswerable",
    ),
    Case(
        "unprocessable",
        Answer(status=422, body=error("unprocessable")),
        "invalid",
        "unanswerable",
    ),
    Case("stream-with-200", Answer(body="data: {}\n\n"), "invalid", "not-json"),
    Case("no-choices-with-200", Answer(body={"choices": None}), "invalid", "not-an-answer"),
    Case("null-with-200", Answer(body=b"null"), "invalid", "not-an-answer"),
    Case("list-with-200", Answer(body=[1, 2]), "invalid", "not-an-answer"),
]


class Effect(NamedTuple):
    """What the drain does when every request of a night is answered like this."""

    drain: str
    stopped: StoppedReason | None
    """None where it breaks off."""
    exit_code: int


_QUOTA = Effect("asks no more; every page stays in the queue, unblamed", "quota", 3)
_LIMIT = Effect(
    "pauses and sends again, twice; the third limit without a hint counts as a lost quota",
    "quota",
    3,
)
_DELAY = Effect(
    "waits {seconds} s or longer and sends again; when the attempts are used up, the pages count "
    "a failure; after two such requests it stops",
    "outage",
    1,
)
_FAILURE = Effect(
    "pauses and sends again; when the attempts are used up, the pages count a failure; after two "
    "such requests it stops",
    "outage",
    1,
)
_REFUSAL = Effect(
    "halves the pack, so that the others are written; a page that is refused alone counts a "
    "failure; after two such pages in a row it stops",
    "outage",
    1,
)
_DOUBT = Effect(
    "asks for other pages, and for halves where there are none; blames the page where one is "
    "answered; after three refusals and no answer breaks off, no page is blamed",
    None,
    2,
)
_CONFIGURATION = Effect("breaks off and says what to set; no page is blamed", None, 2)


def effect_of(case: Case) -> Effect:
    """Return what the drain does with the answer."""
    match case.kind:
        case "stop-quota":
            return _QUOTA
        case "stop-configuration":
            return _DOUBT if case.reason == REFUSED else _CONFIGURATION
        case "wait":
            return _LIMIT if case.seconds is None else _DELAY
        case "retry":
            return _FAILURE
        case "invalid":
            return _REFUSAL
        case _:
            assert_never(case.kind)


def main() -> None:
    """Print the table."""
    sys.stdout.write(document())


def document() -> str:
    """Return the documentation of all cases."""
    head = f"""# What services answer, and what the drain does

A wrong wait burns the day's calls one by one against a quota that is gone until tomorrow; a
wrong stop loses a night. Each attempt takes a unit of the ledger before it is sent and settles
it with an outcome, which is the reason given here. A page that is not written keeps its last
text. Nothing is waited for longer than {LONGEST_WAIT:.0f} seconds.

The last columns tell how a night ends whose every request is answered like this. Each row is
a test over HTTP through the real client, in `tests/providers/test_classification.py`, and
through the whole drain, in `tests/kills/test_answers.py`. The table is made from their data in
`tests/providers/answers.py`.

| | The answer | Status | Ledger | What the drain does | Stopped | Exit |
|---|---|---|---|---|---|---|
"""
    return head + "".join(_row(number, case) for number, case in enumerate(CASES, start=1))


def _row(number: int, case: Case) -> str:
    effect = effect_of(case)
    cells = (
        str(number),
        case.name.replace("-", " "),
        "none" if case.answer.reset else str(case.answer.status),
        f"`{case.reason}`",
        effect.drain.replace("{seconds}", f"{case.seconds or 0:g}"),
        effect.stopped or "",
        str(effect.exit_code),
    )
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
