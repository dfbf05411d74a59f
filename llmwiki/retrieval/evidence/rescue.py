"""Searches once more for families that too little was found of: once each, and only in them.

The rescue query may name what the question does not: a question that asks for credentials says
nothing of service accounts. Every tier searches with it inside of the family. What it finds is
ordered by its standard score for the rescue query plus that for the question, since a chunk
has to be evidence of the family and of use to the question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, Usage
from llmwiki.errors import LlmwikiError
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.embedding import QuestionVector
from llmwiki.retrieval.evidence.plans import PlannedFamily
from llmwiki.retrieval.evidence.scopes import Scope, find_scope
from llmwiki.retrieval.failures import SURVIVED, as_told
from llmwiki.retrieval.normalisation import standard_scores
from llmwiki.retrieval.pool import OpenedTiers
from llmwiki.retrieval.tier_opening import open_tiers
from llmwiki.retrieval.tiers import Tier
from llmwiki.store.family_search import chunks_within

FOUND_BY_TIER = 20
"""Chunks that each tier finds for a family."""

KEPT_FOR_FAMILY = 6
"""Chunks of a family that become candidates."""

LARGEST_SCORED = 2_000
"""Chunks of a family that are scored one and all. In a larger one the tiers search."""

WEIGHT_OF_QUESTION = 1.0
"""Beside the rescue query's 1."""

Judge = Callable[[Sequence[ChunkId]], Sequence[Candidate]]
"""Returns chunks that were not found as candidates, with the fused scores that they have for
the question on the scale of those that were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueQueries:
    """The vectors of rescue queries by their text, and what they cost."""

    vectors: Mapping[str, QuestionVector] = field(default_factory=dict)
    failure: LlmwikiError | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """What the search in one family found."""

    scope: Scope
    candidates: tuple[Candidate, ...]
    """The best first; those that were candidates already are not among them."""
    scores: Mapping[ChunkId, float]
    """The family's own order: how good each of its chunks is as a witness."""
    tiers: tuple[str, ...]


def embed_queries(
    queries: Sequence[str], collections: Sequence[Collection], parts: Parts
) -> RescueQueries:
    """Embed all rescue queries at once; an embedder that fails leaves the words at work."""
    try:
        identity = parts.embedder.identity
        if all(collection.embedder != identity for collection in collections):
            return RescueQueries()
        vectors = parts.embedder.embed(queries)
    except SURVIVED as error:
        told = as_told(error)
        return RescueQueries(failure=told, usage=Usage(embed_calls=told.calls))
    return RescueQueries(
        vectors={
            query: QuestionVector(values=vector, space=identity)
            for query, vector in zip(queries, vectors, strict=True)
        },
        usage=Usage(embed_calls=int(identity.name.startswith("openai:"))),
    )


def rescue_family(
    connection: Connection,
    collections: Sequence[Collection],
    family: PlannedFamily,
    known: Sequence[Candidate],
    tools: "RescueTools",
) -> Rescued:
    """Search for witnesses of the family; ``known`` are those that it has."""
    scope = find_scope(connection, collections, family, tools.authority_tiers)
    if not scope.size:
        return Rescued(scope=scope, candidates=(), scores={}, tiers=())
    opened = open_tiers(
        connection,
        collections,
        family.query,
        tools.queries.vectors.get(family.query),
        exact_below=tools.parts.settings.exact_below,
    )
    tiers = _live(opened, tools.parts)
    found = _find(connection, tiers, scope)
    evidence = _score(connection, tiers, [*found, *(each.id for each in known)], tools.parts)
    new = [chunk_id for chunk_id in found if chunk_id not in {each.id for each in known}]
    best = sorted(new, key=lambda chunk_id: (-evidence[chunk_id], chunk_id))[:FOUND_BY_TIER]
    judged = [
        candidate
        for candidate in tools.judge(best)
        if family.is_member(candidate.chunk)
        and family.admits(candidate.chunk, tools.authority_tiers)
    ]
    scores = _witness_scores([*known, *judged], evidence)
    kept = sorted(judged, key=lambda each: (-scores[each.id], each.id))[:KEPT_FOR_FAMILY]
    return Rescued(
        scope=scope, candidates=tuple(kept), scores=scores, tiers=tuple(each.name for each in tiers)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueTools:
    """What a rescue works with."""

    parts: Parts
    queries: RescueQueries
    judge: Judge
    authority_tiers: tuple[str, ...]


def _live(opened: OpenedTiers, parts: Parts) -> list[Tier]:
    weights = parts.settings.weights
    return [
        tier
        for name, tier in opened.tiers.items()
        if not isinstance(tier, str) and getattr(weights, name)
    ]


def _find(connection: Connection, tiers: Sequence[Tier], scope: Scope) -> list[ChunkId]:
    """Return the chunks of a small family, and the best ones of a large one."""
    within = chunks_within(connection, scope.documents, scope.sections, limit=LARGEST_SCORED + 1)
    if len(within) <= LARGEST_SCORED:
        return within
    documents = (*scope.documents, *scope.documents_of_sections)
    found = (
        chunk_id
        for tier in tiers
        for chunk_id, _ in tier.find(connection, FOUND_BY_TIER, documents=documents)
    )
    return list(dict.fromkeys(found))


def _score(
    connection: Connection, tiers: Sequence[Tier], ids: Sequence[ChunkId], parts: Parts
) -> dict[ChunkId, float]:
    """Return the mean standard score of each chunk for the rescue query."""
    total = dict.fromkeys(ids, 0.0)
    weights = {tier.name: float(getattr(parts.settings.weights, tier.name)) for tier in tiers}
    for tier in tiers:
        standard = standard_scores(dict(tier.complete(connection, ids)), list(total))
        for chunk_id, score in standard.items():
            total[chunk_id] += weights[tier.name] * score / sum(weights.values())
    return total


def _witness_scores(
    members: Sequence[Candidate], evidence: Mapping[ChunkId, float]
) -> dict[ChunkId, float]:
    ids = [each.id for each in members]
    for_family = standard_scores(evidence, ids)
    for_question = standard_scores({each.id: each.fused_score for each in members}, ids)
    return {
        chunk_id: for_family[chunk_id] + WEIGHT_OF_QUESTION * for_question[chunk_id]
        for chunk_id in ids
    }
