"""Scores of services that are kept, so that a question asked again costs no call.

The cache saves calls; that it cannot be read or written is no reason to fail a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from llmwiki.domain import ChunkId, RerankerIdentity
from llmwiki.retrieval.candidates import Candidate
from llmwiki.store.kept_answers import find_answer, keep_answer
from llmwiki.text.hashing import content_hash, normalise

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCache:
    """Keeps scores by everything that they depend on."""

    engine: Engine
    ttl: timedelta

    def find(self, key: str) -> dict[ChunkId, float] | None:
        """Return the scores under the key, as they were kept."""
        try:
            with self.engine.connect() as connection:
                value = find_answer(connection, "rerank", key)
        except SQLAlchemyError as error:
            log.warning("rerank.cache.failed", error=type(error).__name__)
            return None
        try:
            return None if value is None else _read(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def keep(self, key: str, scores: Mapping[ChunkId, float]) -> None:
        """Keep the scores under the key."""
        value = {"scores": {str(chunk_id): score for chunk_id, score in scores.items()}}
        try:
            with self.engine.connect() as connection:
                keep_answer(connection, "rerank", key, value, ttl=self.ttl)
                connection.commit()
        except SQLAlchemyError as error:
            log.warning("rerank.cache.failed", error=type(error).__name__)


def score_key(identity: RerankerIdentity, question: str, candidates: Sequence[Candidate]) -> str:
    """Return the hash of what the scores depend on, whatever order the candidates are in."""
    passages = sorted(
        (candidate.id, candidate.passage.content_hash, " > ".join(candidate.passage.breadcrumb))
        for candidate in candidates
    )
    parts = [str(part) for passage in passages for part in passage]
    return content_hash(identity.method, identity.name, normalise(question), *parts)


def _read(value: Mapping[str, Mapping[str, float]]) -> dict[ChunkId, float]:
    return {ChunkId(int(key)): float(score) for key, score in value["scores"].items()}
