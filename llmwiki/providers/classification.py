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

from llmwiki.providers import error_signals as signs
from llmwiki.providers.error_facts import (
    Evidence,
    embedded_error,
    gather_evidence,
    one_line,
)
from llmwiki.providers.error_signals import LONGEST_WAIT
from llmwiki.providers.http_answer import HttpAnswer

VerdictKind = Literal["stop-quota", "stop-configuration", "wait", "retry", "invalid"]

REFUSED = "request-refused"
"""The reason of a refusal that is due to the configuration, or to what this request contains."""

_HTML = re.compile(r"\s*<(?:!doctype|html|head|body)", re.IGNORECASE)

_Rule = tuple[Callable[[Evidence], bool], VerdictKind, str]

_LIMIT_RULES: tuple[_Rule, ...] = (
    (signs.is_out_of_money, "stop-quota", "quota-exhausted"),
    (signs.is_daily, "stop-quota", "daily-quota"),
    (signs.is_without_requests, "stop-quota", "daily-quota"),
    (signs.is_larger_than_limit, "invalid", "too-long"),
)
"""Tell a limit that passes in a moment from a quota that is gone; the first that holds decides."""

_STATUS_RULES: tuple[_Rule, ...] = (
    (signs.is_payment, "stop-quota", "quota-exhausted"),
    (signs.is_out_of_money, "stop-quota", "quota-exhausted"),
    (signs.is_too_long, "invalid", "too-long"),
    (signs.is_key_refused, "stop-configuration", "key-refused"),
    (signs.is_model_missing, "stop-configuration", "no-such-model"),
    (signs.is_wrong_address, "stop-configuration", "wrong-address"),
    (signs.is_unanswerable, "invalid", "unanswerable"),
    (signs.is_busy, "retry", "server-busy"),
    (signs.is_refusal, "stop-configuration", REFUSED),
)


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
    if signs.is_limit(evidence):
        return (
            _first_that_holds(_LIMIT_RULES, evidence)
            or _judge_delay(evidence, signs.delay_of_limit(evidence, now))
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


def _first_that_holds(rules: tuple[_Rule, ...], evidence: Evidence) -> Verdict | None:
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
