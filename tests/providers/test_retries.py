import traceback
from dataclasses import replace

import openai
import pytest
from structlog.testing import capture_logs

from llmwiki.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    InvalidAnswerError,
    QuotaExhaustedError,
    RefusedRequestError,
    TransientProviderError,
)
from llmwiki.providers.classification import Verdict
from llmwiki.providers.retries import (
    CallResult,
    Exchange,
    RequestTooLargeError,
    RetryPolicy,
    Tokens,
    call_with_retries,
)
from tests.providers.conftest import FakeClock, FakeMeter
from tests.support.chat_server import Answer, ChatServer


def read_text(answer: object) -> str | None:
    choices = getattr(answer, "choices", None)
    if not choices:
        return None
    text = str(choices[0].message.content)
    if text == "useless":
        raise InvalidAnswerError
    return text


class Caller:
    """Calls the server with everything but the answers fixed."""

    def __init__(self, client: openai.OpenAI, policy: RetryPolicy) -> None:
        self._client = client
        self._policy = policy
        self.refusals: list[Verdict] = []
        self.can_adapt = False

    def __call__(self) -> CallResult[str]:
        exchange = Exchange(
            send=lambda: self._client.chat.completions.create(model="m", messages=[]),
            read=read_text,
            adapt=self._adapt,
        )
        return call_with_retries(exchange, policy=self._policy, purpose="compile", subject="p 1")

    def _adapt(self, verdict: Verdict) -> bool:
        self.refusals.append(verdict)
        return self.can_adapt


@pytest.fixture
def call(client: openai.OpenAI, policy: RetryPolicy) -> Caller:
    return Caller(client, policy)


LIMITED = Answer(status=429, body={"error": {"message": "slow down"}})
BROKEN = Answer(status=500)


def test_an_answer_costs_one_unit_that_is_settled_with_its_tokens(
    call: Caller, meter: FakeMeter
) -> None:
    result = call()

    assert result == CallResult(value="ok", attempts=1, tokens=Tokens(input=10, output=5))
    [unit] = meter.calls
    assert (unit.budget, unit.purpose, unit.subject) == ("chat", "compile", "p 1")
    assert unit.settled == [("answered", 200, 10, 5)]


def test_every_attempt_is_a_unit_of_its_own(
    call: Caller, server: ChatServer, meter: FakeMeter
) -> None:
    server.enqueue(BROKEN, Answer(reset=True))

    assert call().attempts == 3

    assert server.requests == 3
    assert [unit.settled for unit in meter.calls] == [
        [("server-error", 500, 0, 0)],
        [("connection", None, 0, 0)],
        [("answered", 200, 10, 5)],
    ]


def test_pauses_grow_and_pass_on_the_given_clock(
    call: Caller, server: ChatServer, clock: FakeClock
) -> None:
    server.enqueue(BROKEN, BROKEN, BROKEN)

    call()

    first, second, third = clock.slept
    assert 1 <= first <= 2 <= second <= 3
    assert 4 <= third <= 5


def test_a_delay_that_was_asked_for_is_kept(
    call: Caller, server: ChatServer, clock: FakeClock
) -> None:
    server.enqueue(Answer(status=429, headers={"Retry-After": "7"}))

    call()

    assert clock.slept == [7.5]


def test_a_delay_that_proves_too_short_grows(
    call: Caller, server: ChatServer, clock: FakeClock
) -> None:
    server.enqueue(*[Answer(status=429, headers={"Retry-After": "0"})] * 3)

    call()

    assert clock.slept[0] >= 1
    assert clock.slept[2] >= 4


def test_a_retry_is_logged_with_its_reason(call: Caller, server: ChatServer) -> None:
    server.enqueue(Answer(status=429, headers={"Retry-After": "7"}))

    with capture_logs() as logs:
        call()

    assert logs == [
        {
            "event": "provider.call.retry",
            "log_level": "warning",
            "attempt": 1,
            "wait": 7.5,
            "reason": "asked-to-wait",
            "status": 429,
        }
    ]


def test_the_attempts_have_an_end(call: Caller, server: ChatServer, meter: FakeMeter) -> None:
    server.answerer = lambda _request: BROKEN

    with pytest.raises(TransientProviderError, match=r"after 4 attempts: server-error \(HTTP 500"):
        call()

    assert server.requests == len(meter.calls) == 4


def test_a_limit_without_explanation_is_waited_out_twice_and_then_taken_for_a_lost_quota(
    call: Caller, server: ChatServer
) -> None:
    server.answerer = lambda _request: LIMITED

    with pytest.raises(QuotaExhaustedError, match="slow down"):
        call()

    assert server.requests == 3


def test_an_error_tells_how_many_attempts_it_cost(call: Caller, server: ChatServer) -> None:
    server.enqueue(BROKEN, BROKEN, Answer(status=401))
    with pytest.raises(ConfigurationError) as caught:
        call()
    assert caught.value.calls == 3

    server.answerer = lambda _request: BROKEN
    with pytest.raises(TransientProviderError) as caught_late:
        call()
    assert caught_late.value.calls == 4


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(status=401, body={"error": {"message": "no"}}), ConfigurationError),
        (Answer(status=403), RefusedRequestError),
        (Answer(status=302, headers={"Location": "/x"}), ConfigurationError),
        (Answer(status=402), QuotaExhaustedError),
        (Answer(status=413), RequestTooLargeError),
        (Answer(body={"choices": []}), InvalidAnswerError),
        (Answer(body="<html></html>"), ConfigurationError),
    ],
)
def test_what_no_repetition_changes_is_sent_once(
    call: Caller, server: ChatServer, meter: FakeMeter, answer: Answer, error: type[Exception]
) -> None:
    server.enqueue(answer)

    with pytest.raises(error):
        call()

    assert server.requests == 1
    assert len(meter.outcomes) == 1


def test_a_redirect_is_told_with_its_remedy(call: Caller, server: ChatServer) -> None:
    server.enqueue(Answer(status=302, headers={"Location": "https://x.example/login?token=1"}))

    with pytest.raises(ConfigurationError) as caught:
        call()

    assert str(caught.value) == (
        "redirected (HTTP 302): the address redirects to https://x.example/login; correct base_url"
    )


def test_a_refusal_without_a_reason_says_so(call: Caller, server: ChatServer) -> None:
    server.enqueue(Answer(status=404, body={}))

    with pytest.raises(RefusedRequestError, match="the service gave no reason"):
        call()


def test_a_useless_answer_is_settled_with_its_tokens_and_not_repeated(
    call: Caller, server: ChatServer, meter: FakeMeter
) -> None:
    server.enqueue("useless")

    with pytest.raises(InvalidAnswerError):
        call()

    assert meter.calls[0].settled == [("unusable-answer", 200, 10, 5)]
    assert server.requests == 1


def test_nothing_is_sent_when_the_ledger_refuses(
    call: Caller, server: ChatServer, meter: FakeMeter
) -> None:
    meter.cap = 0

    with pytest.raises(BudgetExhaustedError):
        call()

    assert server.requests == 0


def test_the_ledger_can_end_the_repetitions(
    call: Caller, server: ChatServer, meter: FakeMeter
) -> None:
    meter.cap = 2
    server.answerer = lambda _request: BROKEN

    with pytest.raises(BudgetExhaustedError):
        call()

    assert server.requests == 2


def test_an_adapted_request_is_sent_at_once_and_counted(
    call: Caller, server: ChatServer, clock: FakeClock, meter: FakeMeter
) -> None:
    call.can_adapt = True
    server.enqueue(Answer(status=400, body={"error": {"message": "no such option"}}))

    result = call()

    assert result.attempts == len(meter.calls) == 2
    assert [verdict.reason for verdict in call.refusals] == ["request-refused"]
    assert sum(clock.slept) == 0


def test_usage_that_is_missing_counts_as_nothing(call: Caller, server: ChatServer) -> None:
    body = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "x"}}]}
    server.enqueue(Answer(body=body), Answer(body={**body, "usage": {"prompt_tokens": "3"}}))

    assert call().tokens == Tokens()
    assert call().tokens == Tokens()


def test_the_key_that_a_service_quotes_is_blanked(
    client: openai.OpenAI, policy: RetryPolicy, server: ChatServer
) -> None:
    key = "sk-abcdefghijkl"
    said = f"Incorrect API key provided: {key}"
    server.answerer = lambda _request: Answer(status=401, body={"error": {"message": said}})

    with pytest.raises(ConfigurationError, match=r"provided: \[key\]") as raised:
        Caller(client, replace(policy, secret=key))()

    assert key not in "".join(traceback.format_exception(raised.value))
