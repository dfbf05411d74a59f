"""Reranks as a retrieval does, with rerankers that do as they are told, and tells the events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine, text

from llmwiki.config import BlendWeights, RerankSettings, RetrievalSettings
from llmwiki.domain import RerankerIdentity, RerankMethod, RerankScores, Usage
from llmwiki.ports import Reranker
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.blend import QuestionWords
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import Event, Trace
from llmwiki.retrieval.rerank import RerankDetail, rerank
from llmwiki.store.ledger import BudgetLimits, budget_state
from tests.providers.conftest import FakeClock

QUESTION = "how many retries"
NO_WORDS = QuestionWords()
ONLY_RERANKER = BlendWeights(rerank=1.0, fused=0.0, overlap=0.0, exact_token=0.0)
LIMITS = BudgetLimits(caps={"rerank": 3}, time_zone="UTC")
"""Three calls a day for the services of these tests."""


@dataclass
class Stub:
    """A reranker that answers what it is told to."""

    answer: Callable[[Sequence[str]], Sequence[tuple[int, float]]]
    method: RerankMethod = "cross-encoder"
    asked: list[list[str]] = field(default_factory=list)

    @property
    def identity(self) -> RerankerIdentity:
        return RerankerIdentity(method=self.method, name="stub")

    def score(self, question: str, texts: Sequence[str], *, timeout: float) -> RerankScores:
        assert question == QUESTION
        assert timeout > 0
        self.asked.append(list(texts))
        return RerankScores(scores=tuple(self.answer(texts)), usage=Usage(rerank_calls=1))


def backwards(texts: Sequence[str]) -> list[tuple[int, float]]:
    """Find the last text the best."""
    return [(index, float(index)) for index in range(len(texts))]


def forwards(texts: Sequence[str]) -> list[tuple[int, float]]:
    """Find the first text the best."""
    return [(index, float(-index)) for index in range(len(texts))]


@dataclass
class Session:
    """Reranks and tells the events."""

    engine: Engine
    reranker: Reranker | None = None
    settings: RerankSettings = field(
        default_factory=lambda: RerankSettings(weights=ONLY_RERANKER, deadline=20.0)
    )
    fusion: RetrievalSettings = field(default_factory=RetrievalSettings)
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)

    def __call__(
        self, candidates: Sequence[Candidate], top_n: int = 12, words: QuestionWords = NO_WORDS
    ) -> list[int]:
        return [each.id for each in self.rank(candidates, top_n, words)]

    def rank(
        self, candidates: Sequence[Candidate], top_n: int = 12, words: QuestionWords = NO_WORDS
    ) -> tuple[Candidate, ...]:
        parts = Parts(
            engine=self.engine,
            embedder=HashingEmbedder(),
            clock=self.clock,
            settings=self.fusion,
            rerank=self.settings,
            reranker=self.reranker,
        )
        trace = Trace(self.clock, self.events.append)
        return rerank(QUESTION, candidates, top_n=top_n, words=words, parts=parts, trace=trace)

    @property
    def spent(self) -> int:
        """Calls that the ledger has booked today."""
        with self.engine.connect() as connection:
            return budget_state(connection, "rerank", LIMITS).used

    def execute(self, statement: str, **values: object) -> None:
        """Change the database."""
        with self.engine.connect() as connection:
            connection.execute(text(statement), values)
            connection.commit()

    @property
    def last(self) -> Event:
        """The last event, of which one was told as active before."""
        active, ended = self.events[-2:]
        assert (active.step, active.status, ended.step) == ("rerank", "active", "rerank")
        return ended

    @property
    def detail(self) -> RerankDetail:
        assert isinstance(self.last.detail, RerankDetail)
        return self.last.detail


def assert_fused_order_stands(session: Session, candidates: tuple[Candidate, ...]) -> None:
    """Rerank, and see that nothing was reordered and that the event says so."""
    assert session.rank(candidates, 2) == candidates[:2]
    assert session.last.status == "error"
    assert session.detail.method == "identity"
    assert (session.detail.input_chunks, session.detail.output_chunks) == (len(candidates), 2)
