"""Answers about limits: those that tell of a quota that is gone, and those that pass in a moment.

A delay of a few seconds in an answer says nothing of which it is.
"""

import json

from tests.providers.answer_case import Case, error, gemini, limited
from tests.support.chat_server import Answer

GEMINI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
DAILY_ID = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
MINUTE_ID = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
GROQ_DAY = (
    "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on requests "
    "per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 1m26.4s."
)
GROQ_MINUTE = (
    "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on tokens "
    "per minute (TPM): Limit 6000, Used 5500, Requested 900. Please try again in 4.5s."
)
AZURE = "Requests to the ChatCompletions_Create Operation have exceeded the token rate limit."

QUOTAS_GONE = (
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
)

LIMITS = (
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
)
