"""The step that searches once more for families that too little was found of."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import Connection

from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.evidence.details import RescueDetail, RescueFacts
from llmwiki.retrieval.evidence.evidence import NO_FAMILIES, Evidence
from llmwiki.retrieval.evidence.plans import PlannedFamily
from llmwiki.retrieval.evidence.rescue import (
    Judge,
    Rescued,
    RescueTools,
    embed_queries,
    rescue_family,
)


def rescue_families(
    connection: Connection, evidence: Evidence, judge: Judge, parts: Parts, trace: Trace
) -> Evidence:
    """Return the evidence with what one search for each family in need has found.

    Automatic families are those that something was found of, and need none. All rescue queries
    are embedded by one call; an embedder that fails leaves the words.
    """
    with trace.step("rescue") as step:
        if not evidence.families:
            step.skip("no-families", NO_FAMILIES)
            return evidence
        lacking = {
            place: family
            for place, family in enumerate(evidence.families)
            if isinstance(family, PlannedFamily)
            and len(evidence.witnesses(place, evidence.candidates)) < family.min
        }
        if not lacking:
            step.skip("enough", "enough was found of every family")
            return evidence
        return _rescue(connection, evidence, lacking, judge, parts, step)


def _rescue(
    connection: Connection,
    evidence: Evidence,
    lacking: Mapping[int, PlannedFamily],
    judge: Judge,
    parts: Parts,
    step: OpenStep,
) -> Evidence:
    connection.commit()  # no transaction is open while a service embeds
    queries = embed_queries(
        [family.query for family in lacking.values()], evidence.collections, parts
    )
    tools = RescueTools(parts=parts, queries=queries, judge=judge, authority_tiers=evidence.tiers)
    rescued = {
        place: rescue_family(
            connection,
            evidence.collections,
            family,
            evidence.witnesses(place, evidence.candidates),
            tools,
        )
        for place, family in lacking.items()
    }
    detail = _detail(evidence, rescued, None if queries.failure is None else str(queries.failure))
    if queries.failure is None:
        step.done(detail, usage=queries.usage)
    else:
        step.fail(queries.failure, detail=detail, usage=queries.usage)
    return _with_rescued(evidence, rescued)


def _with_rescued(evidence: Evidence, rescued: Mapping[int, Rescued]) -> Evidence:
    known = {each.id: each for each in evidence.candidates}
    found = {each.id: each for of in rescued.values() for each in of.candidates}
    together = (known | {key: each for key, each in found.items() if key not in known}).values()
    return replace(
        evidence,
        candidates=tuple(sorted(together, key=lambda candidate: -candidate.score)),
        witness_scores={place: of.scores for place, of in rescued.items()},
    )


def _detail(
    evidence: Evidence, rescued: dict[int, Rescued], without_vectors: str | None
) -> RescueDetail:
    tiers = dict.fromkeys(tier for of in rescued.values() for tier in of.tiers)
    return RescueDetail(
        method=", ".join(tiers),
        rescues=tuple(
            RescueFacts(
                family=evidence.families[place].name,
                query=evidence.families[place].query,
                searched=of.scope.size,
                found=len(of.candidates),
            )
            for place, of in rescued.items()
        ),
        without_vectors=without_vectors,
    )
