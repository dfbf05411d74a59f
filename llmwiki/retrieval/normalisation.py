"""Brings the scores of different tiers onto one scale, purely."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from llmwiki.domain import ChunkId

SMALLEST_SPREAD = 1e-9
"""Below it a tier does not tell its candidates apart, and gives each of them zero."""

HIGHEST_MISSING = -2.0
"""What a chunk without a score in a tier gets at most, in standard deviations."""

RANK_CONSTANT = 60
"""Of reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A linear scale that was fitted to the candidates, and takes scores of others too."""

    zero: float
    unit: float
    """0 where the scores do not differ; then everything is at zero."""
    missing: float
    """Where something without a score stands."""

    def place(self, score: float | None) -> float:
        """Return where a score stands on the scale."""
        if not self.unit:
            return 0.0
        return self.missing if score is None else (score - self.zero) / self.unit


def standard_scale(scores: Iterable[float]) -> Scale:
    """Count in standard deviations from the mean of the scores.

    What has no score comes no better than the worst that has one.
    """
    known = list(scores)
    mean = fsum(known) / max(len(known), 1)
    deviation = sqrt(fsum((score - mean) ** 2 for score in known) / max(len(known), 1))
    if deviation < SMALLEST_SPREAD:
        return Scale(zero=0.0, unit=0.0, missing=0.0)
    lowest = (min(known) - mean) / deviation
    return Scale(zero=mean, unit=deviation, missing=min(HIGHEST_MISSING, lowest))


def min_max_scale(scores: Iterable[float]) -> Scale:
    """Count from 0, the lowest score or none at all, to 1, the highest."""
    known = list(scores)
    lowest = min(known, default=0.0)
    spread = max(known, default=0.0) - lowest
    return Scale(zero=lowest, unit=spread if spread >= SMALLEST_SPREAD else 0.0, missing=0.0)


def standard_scores(
    scores: Mapping[ChunkId, float], candidates: Sequence[ChunkId]
) -> dict[ChunkId, float]:
    """Return where each candidate stands among those that have a score."""
    scale = standard_scale(scores[chunk_id] for chunk_id in candidates if chunk_id in scores)
    return {chunk_id: scale.place(scores.get(chunk_id)) for chunk_id in candidates}


def reciprocal_ranks(ranking: Sequence[ChunkId]) -> dict[ChunkId, float]:
    """Return 1 / (60 + rank) for each chunk that was found."""
    return {id_: 1 / (RANK_CONSTANT + rank) for rank, id_ in enumerate(ranking, start=1)}
