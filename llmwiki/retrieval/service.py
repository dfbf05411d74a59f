"""Answers a question with passages: gathers what each tier finds, fuses, and reads the hits."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection, Engine

from llmwiki.domain import Collection
from llmwiki.errors import ProviderError, UsageError
from llmwiki.ports import Embedder
from llmwiki.retrieval.fusion import FusedPassage, TierScores, fuse
from llmwiki.retrieval.tiers import DenseTier, Tier, identifier_tier, lexical_tier
from llmwiki.store import search
from llmwiki.store.search import FoundPassage

log = structlog.get_logger()

LONGEST_QUESTION = 4_000
"""Characters. What is longer is a document, and would be cut by the embedder without a word."""

FEWEST_CANDIDATES = 20
CANDIDATES_PER_RESULT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TierReport:
    """What became of one tier."""

    name: str
    found: int
    skipped: str | None = None
    """Why the tier did not run."""
    uninformative: bool = False
    """The tier gave every candidate the same score, and so decided nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that answers, with the tiers that found it."""

    passage: FoundPassage
    fused: FusedPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The best passages first, and what every tier contributed."""

    question: str
    hits: tuple[Hit, ...]
    tiers: tuple[TierReport, ...]


def search_passages(
    engine: Engine, embedder: Embedder, collection: Collection, question: str, *, limit: int
) -> SearchResult:
    """Find the passages of the collection that answer the question.

    Raises UsageError for a question that is empty or far too long. An embedder that fails, or
    that writes another vector space than the collection's, leaves the other tiers at work.
    """
    asked = _checked(question)
    count = max(CANDIDATES_PER_RESULT * limit, FEWEST_CANDIDATES)
    dense = _dense_tier(embedder, collection, asked)
    with engine.connect() as connection:
        extent = search.extent_of(connection, collection)
        opened: dict[str, Tier | str] = {
            "dense": dense,
            "lexical": lexical_tier(connection, collection, extent, asked),
            "identifiers": identifier_tier(connection, collection, extent, asked),
        }
        tiers = [tier for tier in opened.values() if not isinstance(tier, str)]
        scores = _score(connection, tiers, count)
        fusion = fuse(scores)
        best = fusion.passages[:limit]
        passages = search.found_passages(connection, [fused.chunk_id for fused in best])
    found = {tier.name: len(tier.ranking) for tier in scores}
    return SearchResult(
        question=asked,
        hits=tuple(
            Hit(passage=passages[fused.chunk_id], fused=fused)
            for fused in best
            if fused.chunk_id in passages
        ),
        tiers=tuple(
            TierReport(
                name=name,
                found=found.get(name, 0),
                skipped=tier if isinstance(tier, str) else None,
                uninformative=name in fusion.uninformative,
            )
            for name, tier in opened.items()
        ),
    )


def _checked(question: str) -> str:
    # A command line that is not UTF-8 arrives with surrogates, which no database takes.
    asked = question.encode(errors="replace").decode().replace("\x00", " ").strip()
    if not asked:
        raise UsageError("the question is empty")
    if len(asked) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(asked)} characters; ask in {LONGEST_QUESTION} at most"
        )
    return asked


def _dense_tier(embedder: Embedder, collection: Collection, question: str) -> DenseTier | str:
    try:
        identity = embedder.identity
        if identity != collection.embedder:
            return (
                f"the collection is embedded with {collection.embedder.name}, and "
                f"{identity.name} is configured; run `llmwiki reembed --collection "
                f"{collection.name}`"
            )
        return DenseTier(collection=collection, vector=embedder.embed([question])[0])
    except ProviderError as error:
        log.warning("search.embedder_failed", error=str(error))
        return f"the embedder failed: {error}"


def _score(connection: Connection, tiers: Sequence[Tier], count: int) -> list[TierScores]:
    """Let each tier find its candidates, then score those of the others."""
    rankings = {tier.name: dict(tier.find(connection, count)) for tier in tiers}
    live = [tier for tier in tiers if rankings[tier.name]]
    union = list(dict.fromkeys(chunk_id for found in rankings.values() for chunk_id in found))
    scores = []
    for tier in live:
        found = rankings[tier.name]
        rest = [chunk_id for chunk_id in union if chunk_id not in found]
        scores.append(
            TierScores(
                name=tier.name,
                ranking=tuple(found),
                scores=found | dict(tier.complete(connection, rest)),
            )
        )
    return scores
