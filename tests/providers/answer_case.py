"""One answer of a provider as data, and how services shape their errors."""

from typing import Any, NamedTuple

from llmwiki.providers.classification import VerdictKind
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
