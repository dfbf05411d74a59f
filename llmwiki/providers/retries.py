"""The only loop that sends a request again. Every attempt is a unit of the ledger."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, assert_never

import httpx2
import openai
import structlog
from tenacity import (
    RetryCallState,
    RetryError,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential_jitter,
)
from tenacity.stop import stop_base

from llmwiki.errors import (
    ConfigurationError,
    InvalidAnswerError,
    LlmwikiError,
    QuotaExhaustedError,
    RefusedRequestError,
    TransientProviderError,
)
from llmwiki.ports import CallAttempt, CallMeter, CallPurpose, Clock
from llmwiki.providers.classification import REFUSED, Verdict, classify
from llmwiki.providers.secrets import without_secret

T = TypeVar("T")

_MOST_TOKENS = 2**31 - 1
"""What the ledger's column holds; no service counts as many."""
_UNEXPLAINED_WAITS = 2
"""Limits without a hint that are waited out; the next one is taken for a lost quota."""
_growing_pause = wait_exponential_jitter(initial=1.0, max=60.0, jitter=1.0)
_log = structlog.get_logger(__name__)


class RequestTooLargeError(InvalidAnswerError):
    """The service takes only smaller requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Whose budget is spent, by whose clock, and how often for one request."""

    meter: CallMeter
    clock: Clock
    budget: str
    max_attempts: int = 6
    patience: float | None = None
    """Seconds after which no further attempt begins, for whom a reader waits; None: no end."""
    secret: str | None = None
    """The key of the service, to be blanked where the service quotes it in its complaints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What the service says one request cost."""

    input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult(Generic[T]):
    """What was read from the answer, and what it cost."""

    value: T
    attempts: int
    tokens: Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Generic[T]):
    """One request: how to send it, what to read from its answer, how to yield to a refusal."""

    send: Callable[[], object]
    read: Callable[[object], T | None]
    """Returns None for what is no answer at all; raises InvalidAnswerError for a useless one."""
    adapt: Callable[[Verdict], bool] = lambda _verdict: False
    """Changes the request after a refusal; True when it should be sent once more."""


def call_with_retries(
    exchange: Exchange[T], *, policy: RetryPolicy, purpose: CallPurpose, subject: str = ""
) -> CallResult[T]:
    """Send until the answer is read, the service says stop, or the attempts are used up.

    Raises ConfigurationError (a RefusedRequestError where it may as well be the request that is
    at fault), QuotaExhaustedError, InvalidAnswerError, TransientProviderError,
    or what the meter raises; each tells in ``calls`` how many attempts were spent.
    """
    calls = _Calls(exchange, policy, purpose, subject)
    stop: stop_base = stop_after_attempt(policy.max_attempts)
    if policy.patience is not None:
        stop = stop | stop_before_delay(policy.patience)
    retrying = Retrying(
        sleep=policy.clock.sleep,
        stop=stop,
        retry=retry_if_exception_type(_SendAgain),
        wait=_pause,
        before_sleep=_log_retry,
    )
    try:
        return retrying(calls.attempt)
    except RetryError as error:
        last = error.last_attempt.exception()
        verdict = last.verdict if isinstance(last, _SendAgain) else None
        given_up = TransientProviderError(
            f"given up after {calls.attempts} attempts: {_describe(verdict)}",
            retry_after=verdict.seconds if verdict else None,
        )
        given_up.calls = calls.attempts
        raise given_up from last
    except LlmwikiError as error:
        error.calls = calls.attempts
        raise


class _SendAgain(Exception):  # noqa: N818 - not an error that leaves this module
    def __init__(self, verdict: Verdict, *, at_once: bool = False) -> None:
        super().__init__(_describe(verdict))
        self.verdict = verdict
        self.at_once = at_once


class _Calls(Generic[T]):
    """The attempts of one request."""

    def __init__(
        self, exchange: Exchange[T], policy: RetryPolicy, purpose: CallPurpose, subject: str
    ) -> None:
        self._exchange = exchange
        self._policy = policy
        self._purpose = purpose
        self._subject = subject
        self.attempts = 0
        self._unexplained_waits = 0

    def attempt(self) -> CallResult[T]:
        policy = self._policy
        with policy.meter.attempt(policy.budget, self._purpose, subject=self._subject) as attempt:
            self.attempts += 1
            outcome = self._send()
            tokens = _tokens(outcome)
            value = None if isinstance(outcome, Exception) else self._read(attempt, outcome)
            if value is not None:
                _settle(attempt, "answered", 200, tokens)
                return CallResult(value=value, attempts=self.attempts, tokens=tokens)
            verdict = classify(outcome, now=policy.clock.now())
            _settle(attempt, verdict.reason, verdict.status, tokens)
        told = without_secret(verdict.message, policy.secret)
        cause = outcome if isinstance(outcome, Exception) and told == verdict.message else None
        raise self._failure(replace(verdict, message=told)) from cause

    def _send(self) -> object:
        try:
            return self._exchange.send()
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            return error
        except (ValueError, OverflowError, RecursionError) as error:
            # The client lets these through when a body is not what its header promised: no JSON,
            # no text, nested without end, a number of thousands of digits.
            return error

    def _read(self, attempt: CallAttempt, answer: object) -> T | None:
        try:
            return self._exchange.read(answer)
        except InvalidAnswerError:
            _settle(attempt, "unusable-answer", 200, _tokens(answer))
            raise
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            # A field of another kind than a service of this form sends; the client checks none.
            _settle(attempt, "unusable-answer", 200, _tokens(answer))
            told = f"the answer has fields of another kind: {type(error).__name__}: {error}"
            raise InvalidAnswerError(told) from error

    def _failure(self, verdict: Verdict) -> Exception:
        if self._exchange.adapt(verdict):
            return _SendAgain(verdict, at_once=True)
        if verdict.kind == "wait" and verdict.seconds is None:
            self._unexplained_waits += 1
            if self._unexplained_waits > _UNEXPLAINED_WAITS:
                return QuotaExhaustedError(_describe(verdict))
        return _error_for(verdict)


def _error_for(verdict: Verdict) -> Exception:
    text = _describe(verdict)
    match verdict.kind:
        case "stop-quota":
            return QuotaExhaustedError(text)
        case "stop-configuration":
            is_guess = verdict.reason == REFUSED
            return RefusedRequestError(text) if is_guess else ConfigurationError(text)
        case "invalid":
            is_too_long = verdict.reason == "too-long"
            return RequestTooLargeError(text) if is_too_long else InvalidAnswerError(text)
        case "wait" | "retry":
            return _SendAgain(verdict)
        case _:
            assert_never(verdict.kind)


def _describe(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no answer"
    status = f" (HTTP {verdict.status})" if verdict.status else ""
    return f"{verdict.reason}{status}: {verdict.message or 'the service gave no reason'}"


def _pause(state: RetryCallState) -> float:
    again = state.outcome.exception() if state.outcome else None
    if not isinstance(again, _SendAgain):
        return 0.0
    if again.at_once:
        return 0.0
    # A little late, so that the limit's window has surely passed; and a delay that proves too
    # short grows all the same.
    asked = again.verdict.seconds
    growing = _growing_pause(state)
    return growing if asked is None else max(asked + 0.5, growing)


def _log_retry(state: RetryCallState) -> None:
    again = state.outcome.exception() if state.outcome else None
    verdict = again.verdict if isinstance(again, _SendAgain) else None
    _log.warning(
        "provider.call.retry",
        attempt=state.attempt_number,
        wait=round(state.upcoming_sleep, 3),
        reason=verdict.reason if verdict else None,
        status=verdict.status if verdict else None,
    )


def _settle(attempt: CallAttempt, outcome: str, status: int | None, tokens: Tokens) -> None:
    attempt.settle(
        outcome, http_status=status, input_tokens=tokens.input, output_tokens=tokens.output
    )


def _tokens(answer: object) -> Tokens:
    """Read the usage, which many services leave out, fill in half, or fill with anything."""
    usage = getattr(answer, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")]
    known = [
        min(count, _MOST_TOKENS) if type(count) is int and count > 0 else 0 for count in counts
    ]
    return Tokens(input=known[0], output=known[1])
