"""Decides what a failed or odd answer means for the calls that follow it.

A wrong "wait" burns the day's calls one by one against a quota that is gone until tomorrow; a
wrong "stop" loses a night. The order of the questions matters: a daily quota is often announced
together with a delay of a few seconds, and a limit per minute with the status of a lost right.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import httpx2
import openai

from llmwiki.providers.evidence import (
    Evidence,
    embedded_error,
    gather_evidence,
    one_line,
    parse_duration,
)
from llmwiki.providers.http_answer import HttpAnswer

VerdictKind = Literal["stop-quota", "stop-configuration", "wait", "retry", "invalid"]

LONGEST_WAIT = 120.0
"""Seconds; a service that asks for more has no calls left for this run."""

REFUSED = "request-refused"
"""The reason of a refusal that is due to the configuration, or to what this request contains."""

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_user_quota",
        "insufficient_balance",
        "credit_balance_too_low",
        "Arrearage",
    }
)
_MONEY_GONE = re.compile(
    r"insufficient (?:quota|balance|credits?|funds)|credit balance is too low"
    r"|billing hard limit|out of credits|more credits",
    re.IGNORECASE,
)
_LONG_WINDOW = re.compile(
    r"\bper[ _-]?(?:day|week|month)\b|\b[RT]PD\b|daily|/day\b|PerDay|\bmonthly\b|FreeTierOnly",
    re.IGNORECASE,
)
_SHORT_WINDOW = re.compile(
    r"\bper[ _-]?(?:minute|min|second)\b|\b[RT]PM\b|PerMinute|/min", re.IGNORECASE
)
_RATE_LIMIT = re.compile(
    r"rate[ _-]?limit|too many requests|throttl|quota[ _]exceeded", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context[ _]length|context (?:window|size)|maximum context|too many (?:input )?tokens"
    r"|request too large|too long|maximum (?:input )?(?:length|batch size|allowed batch)"
    r"|exceeds the (?:maximum|limit)|max_batch",
    re.IGNORECASE,
)
_UNANSWERABLE = re.compile(
    r"content[ _](?:filter|management|policy)|json_validate_failed|invalid[ _]prompt"
    r"|\bmoderation\b|\bflagged\b|\bsafety\b|data[ _]?inspection",
    re.IGNORECASE,
)
_ACCOUNT_FLAGGED = re.compile(
    r"\b(?:account|organi[sz]ation|project|key)\b.{0,40}\bflagged\b", re.IGNORECASE
)
_ABOUT_PARAMETERS = re.compile(
    r"response[_ ]format|json[_ ]?schema|structured output|guided|grammar|max_\w*tokens"
    r"|extra[_ ](?:inputs|forbidden)|unsupported|unknown|parameter|field required|\bmodel\b",
    re.IGNORECASE,
)
_KEY_REFUSED = re.compile(
    r"\b(?:invalid|incorrect|missing|expired|wrong|no) (?:api[ _-]?key|auth|credentials)\b"
    r"|\bapi[ _-]?key (?:is )?(?:not valid|not found|invalid|missing|required|expired)\b",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(
    r"model_not_found|DeploymentNotFound|no such model|unknown model|no endpoints found"
    r"|\bmodels?\b.{0,100}?\b(?:not found|(?:does|do) not exist)|not a valid model",
    re.IGNORECASE,
)
_HTML = re.compile(r"\s*<(?:!doctype|html|head|body)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to do next, and why.

    ``wait``: send again after ``seconds``, or after a growing pause where they are None.
    ``retry``: the service or the way to it failed; send again after a growing pause.
    ``stop-quota``, ``stop-configuration``: no other request will succeed either. With the reason
    REFUSED that is a guess: the answer does not tell the configuration from this request.
    ``invalid``: this request or its answer is at fault; others may succeed.
    """

    kind: VerdictKind
    reason: str
    """Constant, for logs and the ledger."""
    message: str = ""
    """What the service said."""
    status: int | None = None
    seconds: float | None = None


def classify(outcome: object, *, now: datetime) -> Verdict:
    """Decide about an exception, or about an answer that is not what was asked for.

    These are the openai client's exceptions and its answers with status 200, and of plain HTTP
    the exceptions and every answer.
    """
    if isinstance(outcome, openai.APIConnectionError | httpx2.TransportError):
        return _judge_connection(outcome)
    if isinstance(outcome, str):
        return _judge_text(outcome)
    if isinstance(outcome, HttpAnswer) and outcome.succeeded and outcome.body is None:
        return _judge_text(outcome.text)
    evidence = gather_evidence(outcome)
    if _is_failure(outcome):
        return _judge_status(evidence, now)
    if isinstance(outcome, BaseException):
        reason = "answer-cut-off" if isinstance(outcome, ValueError) else "client-error"
        return _verdict("retry", reason, evidence)
    return Verdict(
        kind="invalid", reason="not-an-answer", message="the answer lacks its content", status=200
    )


def _is_failure(outcome: object) -> bool:
    if isinstance(outcome, HttpAnswer) and not outcome.succeeded:
        return True
    return isinstance(outcome, openai.APIStatusError) or embedded_error(outcome) is not None


def _judge_connection(error: openai.APIConnectionError | httpx2.TransportError) -> Verdict:
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    message = one_line(str(error) if cause is error else f"{error} {cause or ''}")
    if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return Verdict(kind="stop-configuration", reason="bad-address-or-key", message=message)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return Verdict(kind="retry", reason="time-out", message=message)
    return Verdict(kind="retry", reason="connection", message=message)


def _judge_text(text: str) -> Verdict:
    if _HTML.match(text):
        # A portal answers every path with its page: nothing behind this address will do better.
        return Verdict(
            kind="stop-configuration",
            reason="web-page",
            message="a web page came instead of an answer; is base_url complete, as with /v1?",
            status=200,
        )
    return Verdict(kind="invalid", reason="not-json", message=one_line(text), status=200)


def _judge_status(evidence: Evidence, now: datetime) -> Verdict:
    if evidence.status is not None and evidence.status < 400:
        return _judge_redirect(evidence)
    if _is_limit(evidence):
        return (
            _first_that_holds(_LIMIT_RULES, evidence)
            or _judge_delay(evidence, _delay_of_limit(evidence, now))
            or _verdict("wait", "rate-limit", evidence)
        )
    return (
        _first_that_holds(_STATUS_RULES, evidence)
        or _judge_delay(evidence, evidence.delay(now))
        or _verdict("retry", "server-error", evidence)
    )


def _judge_redirect(evidence: Evidence) -> Verdict:
    location = evidence.headers.get("location", "").partition("?")[0]
    towards = f" to {location}" if location else ""
    return Verdict(
        kind="stop-configuration",
        reason="redirected",
        message=one_line(f"the address redirects{towards}; correct base_url"),
        status=evidence.status,
    )


def _first_that_holds(rules: tuple["_Rule", ...], evidence: Evidence) -> Verdict | None:
    for holds, kind, reason in rules:
        if holds(evidence):
            return _verdict(kind, reason, evidence)
    return None


def _judge_delay(evidence: Evidence, delay: float | None) -> Verdict | None:
    if delay is None:
        return None
    if delay > LONGEST_WAIT:
        return _verdict("stop-quota", "long-delay", evidence)
    return _verdict("wait", "asked-to-wait", evidence, delay)


def _delay_of_limit(evidence: Evidence, now: datetime) -> float | None:
    delay = evidence.delay(now)
    if delay is None and _remaining_requests(evidence) == "0":
        return parse_duration(evidence.headers.get("x-ratelimit-reset-requests"))
    return delay


def _is_limit(evidence: Evidence) -> bool:
    """Tell whether this is a 429, or a gateway's 403 or unnumbered error that means one."""
    speaks_of_limit = _RATE_LIMIT.search(evidence.text) or _SHORT_WINDOW.search(evidence.text)
    return evidence.status == 429 or (evidence.status in {None, 403} and bool(speaks_of_limit))


def _is_out_of_money(evidence: Evidence) -> bool:
    codes = evidence.values("code", "type", "status", "reason", "error")
    return bool(codes & _QUOTA_CODES) or bool(_MONEY_GONE.search(evidence.message))


def _is_daily(evidence: Evidence) -> bool:
    """Search the message and everything beside it, as Gemini's quotaId."""
    return bool(_LONG_WINDOW.search(evidence.text))


def _is_without_requests(evidence: Evidence) -> bool:
    """Groq counts this header by the day, OpenAI by the minute; the reset tells them apart."""
    if _remaining_requests(evidence) != "0" or _SHORT_WINDOW.search(evidence.text):
        return False
    reset = parse_duration(evidence.headers.get("x-ratelimit-reset-requests"))
    is_groq = any(name.startswith("x-groq") for name in evidence.headers)
    return is_groq or reset is None or reset > LONGEST_WAIT


def _is_larger_than_limit(evidence: Evidence) -> bool:
    """One request above a limit per minute never passes, however long one waits."""
    return "request too large" in evidence.text.lower()


def _remaining_requests(evidence: Evidence) -> str | None:
    return evidence.headers.get("x-ratelimit-remaining-requests")


def _is_payment(evidence: Evidence) -> bool:
    return evidence.status == 402 or (evidence.status == 403 and _is_daily(evidence))


def _is_too_long(evidence: Evidence) -> bool:
    is_about_length = bool(_TOO_LONG.search(evidence.text))
    return evidence.status == 413 or (evidence.status in {400, 422} and is_about_length)


def _is_unanswerable(evidence: Evidence) -> bool:
    """Tell whether the service dislikes what this request contains, not how it is made."""
    if evidence.status == 422:
        return not _ABOUT_PARAMETERS.search(evidence.text)
    is_about_content = bool(_UNANSWERABLE.search(evidence.text))
    is_about_account = bool(_ACCOUNT_FLAGGED.search(evidence.text))
    return evidence.status in {400, 403, 451} and is_about_content and not is_about_account


def _is_busy(evidence: Evidence) -> bool:
    return evidence.status in {408, 409, 425}


def _is_key_refused(evidence: Evidence) -> bool:
    said = evidence.status in {400, 403} and bool(_KEY_REFUSED.search(evidence.message))
    return evidence.status in {401, 407} or said


def _is_model_missing(evidence: Evidence) -> bool:
    return evidence.status in {400, 404} and bool(_NO_SUCH_MODEL.search(evidence.text))


def _is_wrong_address(evidence: Evidence) -> bool:
    return evidence.status in {405, 501}


def _is_refusal(evidence: Evidence) -> bool:
    """Tell whether the request is wrong: its rights, address or parameters, or its content."""
    return evidence.status is not None and evidence.status < 500


def _verdict(
    kind: VerdictKind, reason: str, evidence: Evidence, seconds: float | None = None
) -> Verdict:
    return Verdict(
        kind=kind,
        reason=reason,
        message=evidence.message,
        status=evidence.status,
        seconds=seconds,
    )


_Rule = tuple[Callable[[Evidence], bool], VerdictKind, str]

_LIMIT_RULES: tuple[_Rule, ...] = (
    (_is_out_of_money, "stop-quota", "quota-exhausted"),
    (_is_daily, "stop-quota", "daily-quota"),
    (_is_without_requests, "stop-quota", "daily-quota"),
    (_is_larger_than_limit, "invalid", "too-long"),
)
"""Tell a limit that passes in a moment from a quota that is gone; the first that holds decides."""

_STATUS_RULES: tuple[_Rule, ...] = (
    (_is_payment, "stop-quota", "quota-exhausted"),
    (_is_out_of_money, "stop-quota", "quota-exhausted"),
    (_is_too_long, "invalid", "too-long"),
    (_is_key_refused, "stop-configuration", "key-refused"),
    (_is_model_missing, "stop-configuration", "no-such-model"),
    (_is_wrong_address, "stop-configuration", "wrong-address"),
    (_is_unanswerable, "invalid", "unanswerable"),
    (_is_busy, "retry", "server-busy"),
    (_is_refusal, "stop-configuration", REFUSED),
)
