"""Scores of services that are kept, so that a question asked again costs no call."""

from collections.abc import Mapping, Sequence
from typing import Any

from llmwiki.domain import ChunkId, RerankerIdentity
from llmwiki.retrieval.candidates import Candidate
from llmwiki.text.hashing import content_hash, normalise


def score_key(identity: RerankerIdentity, question: str, candidates: Sequence[Candidate]) -> str:
    """Return the hash of what the scores depend on, whatever order the candidates are in."""
    chunks = sorted(
        (candidate.id, candidate.chunk.content_hash, " > ".join(candidate.chunk.breadcrumb))
        for candidate in candidates
    )
    parts = [str(part) for chunk in chunks for part in chunk]
    return content_hash(identity.method, identity.name, normalise(question), *parts)


def scores_to_json(scores: Mapping[ChunkId, float]) -> dict[str, Any]:
    """Return scores as JSON values."""
    return {"scores": {str(chunk_id): score for chunk_id, score in scores.items()}}


def scores_from_json(value: Mapping[str, Any]) -> dict[ChunkId, float] | None:
    """Return what ``scores_to_json`` was given; None for values of another form."""
    try:
        return {ChunkId(int(key)): float(score) for key, score in value["scores"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
