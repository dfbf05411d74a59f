"""Fuses tiers, purely. The default is the z-score completed over the union of what tiers found.

A chunk that one tier found and another did not reach gets its real score from that other tier
before scores are standardised. Which score stands in for a missing one matters more than how
scores are normalised: on Cranfield, CISI, HotpotQA and MuSiQue (BM25 and MiniLM, 36 candidates
a tier) the completed form reached a mean nDCG@10 of .6114, reciprocal rank fusion .5966 and
z-scores with zero for what is missing .5979. docs/evaluation.md has the figures of today.
Standard scores for combining retrieval runs: Mark Montague and Javed A. Aslam, "Relevance score
normalization for metasearch", CIKM 2001.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from llmwiki.config.retrieval import FusionMethod
from llmwiki.domain import ChunkId
from llmwiki.retrieval.normalisation import (
    Scale,
    min_max_scale,
    reciprocal_ranks,
    standard_scale,
)

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class TierScores:
    """What one tier says of the union of candidates."""

    name: str
    ranking: tuple[ChunkId, ...]
    """What the tier found itself, the best first."""
    scores: Mapping[ChunkId, float]
    """Scores of all candidates that the tier can score, found by it or not."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedChunk:
    """A candidate with its fused score and its rank in each tier that found it."""

    chunk_id: ChunkId
    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """All candidates, the best first, and the scales that others can be judged by."""

    chunks: tuple[FusedChunk, ...]
    scales: Mapping[str, Scale] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def uninformative(self) -> tuple[str, ...]:
        """Tiers that gave every candidate the same score."""
        return tuple(name for name, scale in self.scales.items() if not scale.unit)

    def judge(self, scores: Mapping[str, float]) -> float:
        """Return the fused score of a chunk by its scores in the tiers, as they were fitted.

        It may be any chunk: those that were fused keep their scores and their order.
        """
        total = sum(self.weights.values()) or 1.0
        return (
            sum(
                self.weights[name] * scale.place(scores.get(name))
                for name, scale in self.scales.items()
            )
            / total
        )


def fuse(tiers: Sequence[TierScores], method: FusionMethod = "completed-zscore") -> Fusion:
    """Order the union of the tiers' candidates by the weighted mean of normalised scores.

    Ties go to the better best rank, then to the lower id. A single tier keeps its order and
    its scores.
    """
    if len(tiers) == 1:
        return _alone(tiers[0])
    candidates = list(dict.fromkeys(chunk_id for tier in tiers for chunk_id in tier.ranking))
    judged = {tier.name: _judged(tier, method) for tier in tiers}
    fusion = Fusion(
        chunks=(),
        scales={tier.name: _scale(judged[tier.name], candidates, method) for tier in tiers},
        weights={tier.name: tier.weight for tier in tiers},
    )
    ranks = {
        tier.name: {chunk_id: rank for rank, chunk_id in enumerate(tier.ranking, start=1)}
        for tier in tiers
    }
    chunks = [
        FusedChunk(
            chunk_id=chunk_id,
            score=fusion.judge(_of(chunk_id, judged)),
            ranks=_of(chunk_id, ranks),
        )
        for chunk_id in candidates
    ]
    return Fusion(
        chunks=tuple(sorted(chunks, key=_best_first)),
        scales=fusion.scales,
        weights=fusion.weights,
    )


def _alone(tier: TierScores) -> Fusion:
    return Fusion(
        chunks=tuple(
            FusedChunk(chunk_id=chunk_id, score=tier.scores[chunk_id], ranks={tier.name: rank})
            for rank, chunk_id in enumerate(tier.ranking, start=1)
        ),
        scales={tier.name: Scale(zero=0.0, unit=1.0, missing=0.0)},
        weights={tier.name: 1.0},
    )


def _judged(tier: TierScores, method: FusionMethod) -> Mapping[ChunkId, float]:
    """Return what counts of a tier's scores."""
    match method:
        case "completed-zscore" | "convex":
            return tier.scores
        case "min-max":
            return {chunk_id: tier.scores[chunk_id] for chunk_id in tier.ranking}
        case "rrf":
            return reciprocal_ranks(tier.ranking)
        case _:
            assert_never(method)


def _scale(
    scores: Mapping[ChunkId, float], candidates: Sequence[ChunkId], method: FusionMethod
) -> Scale:
    known = [scores[chunk_id] for chunk_id in candidates if chunk_id in scores]
    match method:
        case "completed-zscore":
            return standard_scale(known)
        case "convex" | "min-max":
            return min_max_scale(known)
        case "rrf":
            return Scale(zero=0.0, unit=1.0, missing=0.0)
        case _:
            assert_never(method)


def _of(chunk_id: ChunkId, tiers: Mapping[str, Mapping[ChunkId, Value]]) -> dict[str, Value]:
    return {name: found[chunk_id] for name, found in tiers.items() if chunk_id in found}


def _best_first(chunk: FusedChunk) -> tuple[float, int, int]:
    return (-chunk.score, min(chunk.ranks.values()), chunk.chunk_id)
