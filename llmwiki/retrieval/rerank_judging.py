"""What a reranker says of candidates: kept scores first, then a call, within the time that is left.

It runs in a thread of its own (see ``deadline``), so it opens its own connections.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any, Self

from sqlalchemy import Engine

from llmwiki.config import RerankSettings
from llmwiki.domain import ChunkId, RerankerIdentity, Usage
from llmwiki.errors import InvalidAnswerError, ProviderError, TransientProviderError
from llmwiki.ports import Clock, Reranker
from llmwiki.retrieval.blend import Judgement
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.rerank_cache import score_key, scores_from_json, scores_to_json
from llmwiki.retrieval.rerank_scores import check_scores
from llmwiki.store.answer_cache import KeptAnswers
from llmwiki.store.chunk_lexemes import lexemes_of
from llmwiki.store.circuit_breaker import BreakerLimits, resting_until
from llmwiki.store.embeddings import embedding_text

SHARE_OF_TIME = 0.9
"""What a reranker gets of the time that is left: it should end by itself, since only then it can
tell what it spent, and what it found can be kept."""


class RestingError(ProviderError):
    """The service failed several times in a row, and is not asked for a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judgement, who made it, and what it cost."""

    identity: RerankerIdentity
    judgement: Judgement
    usage: Usage
    from_cache: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Everything that one question needs to be judged."""

    question: str
    candidates: tuple[Candidate, ...]
    needed: int
    reranker: Reranker
    engine: Engine
    clock: Clock
    settings: RerankSettings
    ends_at: float
    """By the clock's monotonic time."""

    @classmethod
    def of(
        cls,
        question: str,
        fused: Sequence[Candidate],
        parts: Parts,
        reranker: Reranker,
        *,
        needed: int,
    ) -> Self:
        """Take as many of the candidates as may be scored; time runs from now."""
        asked = tuple(fused[: parts.rerank.max_candidates])
        return cls(
            question=question,
            candidates=asked,
            needed=min(needed, len(asked)),
            reranker=reranker,
            engine=parts.engine,
            clock=parts.clock,
            settings=parts.rerank,
            ends_at=parts.clock.monotonic() + parts.rerank.deadline,
        )

    def run(self) -> Judged:
        """Judge the candidates.

        Raises what the reranker raises, InvalidAnswerError for an answer that lies, RestingError
        for a service that is left alone, and SQLAlchemyError where the database fails.
        """
        identity = self.reranker.identity
        with self.engine.connect() as connection:
            lexemes = lexemes_of(connection, [candidate.id for candidate in self.candidates])
        # A model of one's own costs nothing but time; its scores are not kept.
        answers = None if identity.method == "cross-encoder" else self._answers()
        key = score_key(identity, self.question, self.candidates)
        kept = None if answers is None else self._usable(answers.find(key))
        if answers is not None and kept is None:
            self._require_awake(identity)
        scores, usage = (kept, Usage()) if kept is not None else self._ask()
        if answers is not None and kept is None:
            answers.keep(key, scores_to_json(scores))
        return Judged(
            identity=identity,
            judgement=Judgement(scores=scores, lexemes=lexemes),
            usage=usage,
            from_cache=kept is not None,
        )

    def _require_awake(self, identity: RerankerIdentity) -> None:
        """Raise RestingError where the service failed in a row of late."""
        settings = self.settings
        limits = BreakerLimits(
            threshold=settings.failure_threshold,
            cool_down=settings.cool_down,
            patience=timedelta(seconds=settings.deadline),
        )
        with self.engine.connect() as connection:
            until = resting_until(connection, "rerank", identity.subject, limits)
        if until is not None:
            raise RestingError(
                f"the last {settings.failure_threshold} calls to {identity.method} "
                f"{identity.name} failed; it is not asked until "
                f"{until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
            )

    def _answers(self) -> KeptAnswers:
        return KeptAnswers(engine=self.engine, kind="rerank", ttl=self.settings.cache_ttl)

    def _usable(self, value: Mapping[str, Any] | None) -> dict[ChunkId, float] | None:
        """Return kept scores that would pass as an answer today."""
        kept = None if value is None else scores_from_json(value)
        if kept is None:
            return None
        indices = {candidate.id: index for index, candidate in enumerate(self.candidates)}
        try:
            return self._checked((indices.get(id_, -1), score) for id_, score in kept.items())
        except InvalidAnswerError:
            return None

    def _ask(self) -> tuple[dict[ChunkId, float], Usage]:
        left = SHARE_OF_TIME * (self.ends_at - self.clock.monotonic())
        if left <= 0:
            raise TransientProviderError("no time was left for the reranker; it was not asked")
        answer = self.reranker.score(self.question, self._texts(), timeout=left)
        try:
            return self._checked(answer.scores), answer.usage
        except InvalidAnswerError as error:
            error.calls = answer.usage.rerank_calls
            raise

    def _checked(self, answer: Iterable[tuple[int, float]]) -> dict[ChunkId, float]:
        scores = check_scores(answer, self._texts(), needed=self.needed)
        return {self.candidates[index].id: score for index, score in scores.items()}

    def _texts(self) -> list[str]:
        chunks = (candidate.chunk for candidate in self.candidates)
        return [embedding_text(chunk.breadcrumb, chunk.text) for chunk in chunks]
