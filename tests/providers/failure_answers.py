"""Answers of services that fail for a moment, or that are not what the configuration says."""

from llmwiki.providers.classification import REFUSED
from tests.providers.answer_case import Case, error, gemini
from tests.support.chat_server import Answer

FAILURES = (
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
)

CONFIGURATION = (
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
)
