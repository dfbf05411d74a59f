"""From a question to a ranking: what the tiers find, what evidence needs, in the final order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.embedding import QuestionVector
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.evidence.service import (
    Evidence,
    EvidenceLevels,
    Graded,
    find_families,
    grade_families,
    rescue_families,
    reserve_places,
)
from llmwiki.retrieval.feedback import ask_again
from llmwiki.retrieval.named_titles import follow_titles
from llmwiki.retrieval.pool import Pool, find_candidates, judge_others
from llmwiki.retrieval.rerank import rerank
from llmwiki.retrieval.tier_opening import open_tiers
from llmwiki.store.calibrations import read_calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question on its way, with what it is embedded as."""

    question: str
    collections: tuple[Collection, ...]
    embed_query: str
    vector: QuestionVector | None
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Everything that was found for a question, in the final order, with the evidence graded."""

    pool: Pool
    order: tuple[Candidate, ...]
    graded: Graded
    limit: int

    @property
    def flat(self) -> tuple[Candidate, ...]:
        """The best chunks as they would be without families."""
        found = {candidate.id for candidate in self.pool.candidates}
        return tuple(each for each in self.order if each.id in found)[: self.limit]


def rank(asked: Asked, parts: Parts) -> Ranked:
    """Find candidates, complete the families of evidence, rerank by the question as asked.

    No transaction is open while a reranker or a model works.
    """
    with parts.engine.connect() as connection:
        pool = _search(connection, asked, parts)
        evidence = _complete(connection, pool, asked, parts)
    order = rerank(
        asked.question,
        evidence.candidates,
        top_n=max(len(evidence.candidates), 1) if evidence.families else parts.settings.limit,
        words=pool.words,
        parts=parts,
        trace=asked.trace,
    )
    with parts.engine.connect() as connection:
        judge = _judge(connection, pool)
        limit = parts.settings.limit
        reserved = reserve_places(connection, evidence, order, judge, limit, asked.trace)
        levels = _levels(connection, asked.collections) if evidence.families else None
        graded = grade_families(connection, reserved, parts, asked.trace, levels=levels)
    return Ranked(pool=pool, order=order, graded=graded, limit=limit)


def _search(connection: Connection, asked: Asked, parts: Parts) -> Pool:
    settings = parts.settings
    tiers = open_tiers(
        connection,
        asked.collections,
        asked.question,
        asked.vector,
        exact_below=settings.exact_below,
    )
    pool = find_candidates(connection, tiers, settings, asked.trace)
    pool = ask_again(connection, pool, asked.collections, settings, asked.trace)
    followed = follow_titles(asked.question, pool.candidates, settings, asked.trace)
    return replace(pool, candidates=followed)


def _complete(connection: Connection, pool: Pool, asked: Asked, parts: Parts) -> Evidence:
    evidence = find_families(
        connection,
        asked.collections,
        asked.question,
        pool.candidates,
        settings=parts.settings,
        plans=parts.plans,
        trace=asked.trace,
    )
    return rescue_families(connection, evidence, _judge(connection, pool), parts, asked.trace)


def _levels(connection: Connection, collections: Sequence[Collection]) -> EvidenceLevels | None:
    """Return from where evidence is good in these corpora, as far as it was measured."""
    measured = [read_calibration(connection, collection) for collection in collections]
    known = [each for each in measured if each is not None]
    if not known:
        return None
    return EvidenceLevels(
        ambiguous=max(each.common_overlap for each in known),
        ok=max(each.rare_overlap for each in known),
    )


def _judge(
    connection: Connection, pool: Pool
) -> Callable[[Iterable[ChunkId]], Sequence[Candidate]]:
    return lambda ids: judge_others(connection, pool, ids)
