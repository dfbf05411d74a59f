from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import openai
import pytest

from llmwiki.errors import BudgetExhaustedError
from llmwiki.ports import CallPurpose
from llmwiki.providers.openai_client import open_client
from llmwiki.providers.retries import RetryPolicy
from tests.support.chat_server import ChatServer


class FakeClock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 2, 0, tzinfo=UTC) + timedelta(seconds=sum(self.slept))

    def monotonic(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@dataclass
class Call:
    """One unit taken from the budget, and what came of it."""

    budget: str
    purpose: str
    subject: str
    settled: list[tuple[str, int | None, int, int]] = field(default_factory=list)

    def settle(
        self,
        outcome: str,
        *,
        http_status: int | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        self.settled.append((outcome, http_status, input_tokens, output_tokens))


class FakeMeter:
    """Counts calls in memory; refuses after the cap."""

    def __init__(self, cap: int = 1000) -> None:
        self.cap = cap
        self.calls: list[Call] = []

    def attempt(
        self, budget: str, purpose: CallPurpose, *, subject: str = ""
    ) -> AbstractContextManager[Call]:
        return self._attempt(budget, purpose, subject)

    @contextmanager
    def _attempt(self, budget: str, purpose: str, subject: str) -> Iterator[Call]:
        if len(self.calls) >= self.cap:
            raise BudgetExhaustedError
        call = Call(budget, purpose, subject)
        self.calls.append(call)
        yield call

    @property
    def outcomes(self) -> list[str]:
        return [outcome for call in self.calls for outcome, *_ in call.settled]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def client(server: ChatServer) -> Iterator[openai.OpenAI]:
    with open_client(base_url=server.url, api_key="key", request_timeout=5.0) as opened:
        yield opened


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def meter() -> FakeMeter:
    return FakeMeter()


@pytest.fixture
def policy(meter: FakeMeter, clock: FakeClock) -> RetryPolicy:
    return RetryPolicy(meter=meter, clock=clock, budget="chat", max_attempts=4)
