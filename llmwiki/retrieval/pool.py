"""Gathers candidates: every tier finds, all of them are scored by every tier, and are fused."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import Connection

from llmwiki.config import RetrievalSettings
from llmwiki.domain import ChunkId
from llmwiki.retrieval.blend import QuestionWords
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.fusion import Fusion, TierScores, fuse
from llmwiki.retrieval.tiers import Tier
from llmwiki.store.found_chunks import FoundChunk, read_chunks

TierName = Literal["dense", "lexical", "identifiers"]

FEWEST_CANDIDATES = 20
CANDIDATES_PER_RESULT = 3
"""Retrieve wide, narrow after reranking: what was not found cannot be promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierDetail(Detail):
    """What one tier found by itself."""

    kind: Literal["tier"] = "tier"
    method: str
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionDetail(Detail):
    """How the tiers were brought together."""

    kind: Literal["fuse"] = "fuse"
    method: str
    tiers: tuple[str, ...]
    candidates: int
    uninformative: tuple[str, ...]
    """Tiers that gave every candidate the same score, and so decided nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTiers:
    """The tiers of one question."""

    tiers: Mapping[TierName, Tier | str]
    """A text is the reason why a tier cannot run."""
    words: QuestionWords
    """The lexemes and the rare identifiers of the question that the corpus has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The candidates of a question, the best first, and the tiers that can score others."""

    candidates: tuple[Candidate, ...]
    tiers: tuple[Tier, ...]
    """Those that found something."""
    scores: tuple[TierScores, ...]
    """What each of them says of all candidates."""
    fusion: Fusion
    words: QuestionWords
    """The lexemes and the rare identifiers of the question that the corpus has."""


def candidate_count(limit: int) -> int:
    """Return how many candidates each tier is asked for."""
    return max(CANDIDATES_PER_RESULT * limit, FEWEST_CANDIDATES)


def find_candidates(
    connection: Connection, opened: OpenedTiers, settings: RetrievalSettings, trace: Trace
) -> Pool:
    """Let every tier find its candidates, score the union in all of them, and fuse.

    A tier of weight 0 is off.
    """
    rankings: dict[str, dict[ChunkId, float]] = {}
    live: list[Tier] = []
    weights = settings.weights.model_dump()
    for name, tier in opened.tiers.items():
        found = _find(connection, name, tier, settings, trace)
        if found and not isinstance(tier, str):
            rankings[name] = found
            live.append(tier)
    with trace.step("fuse") as step:
        scores = _complete(connection, live, rankings, weights)
        fusion = fuse(scores, settings.fusion)
        read = read_chunks(connection, [fused.chunk_id for fused in fusion.chunks])
        detail = FusionDetail(
            method=settings.fusion,
            tiers=tuple(rankings),
            candidates=len(read),
            uninformative=fusion.uninformative,
        )
        if len(scores) > 1:
            step.done(detail)
        else:
            step.skip(
                "single-tier" if scores else "empty",
                "there is nothing to fuse it with" if scores else "no tier found anything",
                detail=detail,
            )
    return Pool(
        candidates=_candidates(fusion, read),
        tiers=tuple(live),
        scores=tuple(scores),
        fusion=fusion,
        words=opened.words,
    )


def score_again(
    connection: Connection, pool: Pool, tier: Tier, settings: RetrievalSettings
) -> Pool:
    """Return the pool with a tier in the place of the one of its name, all candidates rescored."""
    known = {candidate.id: candidate.chunk for candidate in pool.candidates}
    anew = dict(tier.complete(connection, known))
    scores = tuple(
        replace(each, scores=anew) if each.name == tier.name else each for each in pool.scores
    )
    fusion = fuse(scores, settings.fusion)
    return replace(
        pool,
        candidates=_candidates(fusion, known),
        tiers=tuple(tier if each.name == tier.name else each for each in pool.tiers),
        scores=scores,
        fusion=fusion,
    )


def _candidates(fusion: Fusion, read: Mapping[ChunkId, FoundChunk]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            chunk=read[fused.chunk_id],
            score=fused.score,
            fused_score=fused.score,
            ranks=fused.ranks,
        )
        for fused in fusion.chunks
        if fused.chunk_id in read
    )


def judge_others(
    connection: Connection, pool: Pool, ids: Iterable[ChunkId]
) -> tuple[Candidate, ...]:
    """Return chunks that no tier found as candidates, with scores as if one had.

    They are scored on the scales of the pool, so that nobody's score changes by their coming.
    """
    known = {candidate.id for candidate in pool.candidates}
    others = [chunk_id for chunk_id in dict.fromkeys(ids) if chunk_id not in known]
    if not others:
        return ()
    completed = {tier.name: dict(tier.complete(connection, others)) for tier in pool.tiers}
    read = read_chunks(connection, others)
    judged = []
    for chunk_id in others:
        if chunk_id in read:
            scores = {name: of[chunk_id] for name, of in completed.items() if chunk_id in of}
            score = pool.fusion.judge(scores)
            judged.append(Candidate(chunk=read[chunk_id], score=score, fused_score=score))
    return tuple(sorted(judged, key=lambda candidate: (-candidate.score, candidate.id)))


def _find(
    connection: Connection,
    name: TierName,
    tier: Tier | str,
    settings: RetrievalSettings,
    trace: Trace,
) -> dict[ChunkId, float]:
    with trace.step(name) as step:
        if not getattr(settings.weights, name):
            step.skip("off", f"retrieval.weights.{name} is 0")
        elif isinstance(tier, str):
            step.skip("not-applicable", tier)
        else:
            found = dict(tier.find(connection, candidate_count(settings.limit)))
            step.done(TierDetail(method=tier.method, found=len(found)))
            return found
    return {}


def _complete(
    connection: Connection,
    live: Sequence[Tier],
    rankings: Mapping[str, Mapping[ChunkId, float]],
    weights: Mapping[str, float],
) -> list[TierScores]:
    union = list(dict.fromkeys(chunk_id for found in rankings.values() for chunk_id in found))
    scores = []
    for tier in live:
        found = rankings[tier.name]
        rest = [chunk_id for chunk_id in union if chunk_id not in found]
        scores.append(
            TierScores(
                name=tier.name,
                ranking=tuple(found),
                scores={**found, **dict(tier.complete(connection, rest))},
                weight=weights[tier.name],
            )
        )
    return scores
