"""Answers that speak against this request or are none themselves; others may succeed."""

from tests.providers.answer_case import Case, error, limited
from tests.support.chat_server import Answer

TOO_LONG_VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 5021 tokens."
)

REQUESTS = (
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
)
