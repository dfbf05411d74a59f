"""Reads the files that a batch leaves: an answer, an error or nothing for each request.

Pure, and tolerant: lines come in any order, in one file or two, more than once, or not at all.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llmwiki.errors import InvalidAnswerError

_ENDED_UNASKED = {"batch_expired": "expired", "batch_cancelled": "cancelled"}
"""Codes of requests that were never carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """What came of one request: a text, or a problem."""

    outcome: str
    """For the ledger, as ``answered`` or ``expired``."""
    text: str = ""
    problem: str = ""
    is_failure: bool = False
    """Whether the problem counts as a failed attempt of the pages."""
    finish_reason: str = ""
    http_status: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResults:
    """The results by custom id, and how many lines were of no use."""

    by_id: Mapping[str, RequestResult]
    ignored: int


def read_results(files: Iterable[bytes], expected: Collection[str]) -> BatchResults:
    """Read the files of a batch, the one with the answers first.

    Of several lines for a request the first one counts. Raises InvalidAnswerError when a file
    holds no line that can be read: that is a portal's page, not the answers that were paid for.
    """
    results: dict[str, RequestResult] = {}
    ignored = 0
    for content in files:
        lines = list(_lines(content))
        if lines and not any(lines):
            raise InvalidAnswerError("a file of the batch holds no line of JSON")
        for line in lines:
            custom_id = line.get("custom_id")
            if not isinstance(custom_id, str) or custom_id in results or custom_id not in expected:
                ignored += 1
            else:
                results[custom_id] = _result(line)
    return BatchResults(by_id=results, ignored=ignored)


def _lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Return the objects of the lines, an empty one for what is none.

    Only a line feed ends a line: texts may hold every other separator that Unicode has.
    """
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        yield value if isinstance(value, dict) else {}


def _result(line: Mapping[str, Any]) -> RequestResult:
    error, response = line.get("error"), _object(line.get("response"))
    body, status = _object(response.get("body")), response.get("status_code")
    status = status if isinstance(status, int) else None
    if error:
        code = str(_object(error).get("code"))
        if code in _ENDED_UNASKED:
            return RequestResult(outcome=_ENDED_UNASKED[code], problem=_message(error))
        return _failed("request-failed", error, status)
    if status is not None and status != 200:
        return _failed(f"http-{status}", body.get("error") or body, status)
    if body.get("error"):
        return _failed("request-failed", body["error"], status)
    return _answer(body)


def _failed(outcome: str, error: object, status: int | None) -> RequestResult:
    # A limit of the account says nothing about the pages that ran into it.
    return RequestResult(
        outcome=outcome, problem=_message(error), is_failure=status != 429, http_status=status
    )


def _answer(body: Mapping[str, Any]) -> RequestResult:
    choices = body.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    message, finish_reason = _object(choice.get("message")), str(choice.get("finish_reason"))
    text, problem = message.get("content"), ""
    if finish_reason == "content_filter":
        problem = "the service's content filter withheld the answer"
    elif message.get("refusal"):
        problem = f"the model refused: {_plain(message['refusal'])[:200]}"
    elif not isinstance(text, str) or not text.strip():
        problem = f"the answer is empty (finish reason {finish_reason})"
    usage = _object(body.get("usage"))
    return RequestResult(
        outcome="unusable-answer" if problem else "answered",
        text="" if problem else str(text),
        problem=problem,
        is_failure=bool(problem),
        finish_reason=finish_reason,
        http_status=200,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _message(error: object) -> str:
    details = _object(error)
    return _plain(details.get("message") or details.get("code") or error)[:500]


def _plain(value: object) -> str:
    """Return a text that the database takes: no NUL, no half of a surrogate pair."""
    return str(value).replace("\x00", "").encode(errors="replace").decode()
