"""Interfaces of what costs money, can be swapped, or is not deterministic."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from llmwiki.domain import (
    ChatAnswer,
    EmbedderIdentity,
    Generation,
    GeneratorIdentity,
    Message,
    RerankerIdentity,
    RerankScores,
    TopicSources,
)

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length."""

CallPurpose = Literal["compile", "embed", "question", "rerank"]


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The vector space that this embedder writes to."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in order.

        Raises QuotaExhaustedError, BudgetExhaustedError or ProviderError when a service fails
        for good; an offline embedder raises none of them.
        """
        ...


class Generator(Protocol):
    """Writes page drafts from topics."""

    @property
    def identity(self) -> GeneratorIdentity:
        """What goes into the recipe of its pages."""
        ...

    def generate(self, pack: Sequence[TopicSources]) -> Generation:
        """Write one draft for each topic of the pack, in one request where a service is asked.

        A topic that got no usable draft is left out of the result, with the reason under
        ``problems``. Raises QuotaExhaustedError, BudgetExhaustedError or ProviderError when the
        request as a whole failed.
        """
        ...


class ChatModel(Protocol):
    """One model that can be asked."""

    @property
    def name(self) -> str:
        """How its service calls it."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None,
        max_output_tokens: int,
        purpose: CallPurpose,
        subject: str,
    ) -> ChatAnswer:
        """Ask for one completion; ``subject`` is what the ledger notes it for.

        The schema is a request, not a promise: the prompt must describe the format too, and the
        caller must validate. Raises QuotaExhaustedError, BudgetExhaustedError, ProviderError or
        ConfigurationError.
        """
        ...


class Reranker(Protocol):
    """Scores texts by how well they answer a question."""

    @property
    def identity(self) -> RerankerIdentity:
        """Which model scores; part of the cache's key."""
        ...

    def score(self, question: str, texts: Sequence[str], *, timeout: float) -> RerankScores:
        """Score every text, within so many seconds.

        Raises ProviderError, QuotaExhaustedError or BudgetExhaustedError. What a service answers
        is passed on as it is: whoever asked checks it.
        """
        ...


class Clock(Protocol):
    """The time of this process. Leases and ledger days follow the database's clock instead."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary start, never running backwards."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class CallAttempt(Protocol):
    """One reserved call; fill in what came of it before the block ends."""

    def settle(
        self,
        outcome: str,
        *,
        http_status: int | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Record the outcome. A call that is never settled counts as spent and as lost."""
        ...


class CallMeter(Protocol):
    """The ledger as a provider sees it."""

    def attempt(
        self, budget: str, purpose: CallPurpose, *, subject: str = ""
    ) -> AbstractContextManager[CallAttempt]:
        """Take one unit of the budget, committed before the block is entered, never refunded.

        Raises BudgetExhaustedError when no unit is left; then no call may be sent.
        """
        ...
