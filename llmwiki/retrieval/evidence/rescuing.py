"""The step that searches once more for families that too little was found of."""

from dataclasses import replace

from sqlalchemy import Connection

from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.evidence.details import RescueDetail, RescueFacts
from llmwiki.retrieval.evidence.evidence import NO_FAMILIES, Evidence
from llmwiki.retrieval.evidence.rescue import (
    Judge,
    Rescued,
    RescueTools,
    embed_queries,
    rescue_family,
)
from llmwiki.retrieval.parts import Parts


def rescue_families(
    connection: Connection, evidence: Evidence, judge: Judge, parts: Parts, trace: Trace
) -> Evidence:
    """Return the evidence with what one search for each family in need has found.

    All rescue queries are embedded by one call; an embedder that fails leaves the words.
    """
    with trace.step("rescue") as step:
        if not evidence.families:
            step.skip("no-families", NO_FAMILIES)
            return evidence
        lacking = [
            place
            for place, family in enumerate(evidence.families)
            if len(evidence.witnesses(place, evidence.candidates)) < family.min
        ]
        if not lacking:
            step.skip("enough", "enough was found of every family")
            return evidence
        return _rescue(connection, evidence, lacking, judge, parts, step)


def _rescue(
    connection: Connection,
    evidence: Evidence,
    lacking: list[int],
    judge: Judge,
    parts: Parts,
    step: OpenStep,
) -> Evidence:
    connection.commit()  # no transaction is open while a service embeds
    queries = embed_queries(
        [evidence.families[place].query for place in lacking], evidence.collections, parts
    )
    tools = RescueTools(parts=parts, queries=queries, judge=judge, authority_tiers=evidence.tiers)
    rescued = {
        place: rescue_family(
            connection,
            evidence.collections,
            evidence.families[place],
            evidence.witnesses(place, evidence.candidates),
            tools,
        )
        for place in lacking
    }
    detail = _detail(evidence, rescued, None if queries.failure is None else str(queries.failure))
    if queries.failure is None:
        step.done(detail, usage=queries.usage)
    else:
        step.fail(queries.failure, detail=detail, usage=queries.usage)
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
