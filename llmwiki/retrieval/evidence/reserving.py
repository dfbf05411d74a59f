"""The step that keeps places for witnesses, with what these need to be understood."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.evidence.details import ReserveDetail, WitnessFacts
from llmwiki.retrieval.evidence.evidence import NO_FAMILIES, Evidence, Reserved
from llmwiki.retrieval.evidence.lead_ins import needs_lead_in
from llmwiki.retrieval.evidence.rescue import Judge
from llmwiki.retrieval.evidence.reservation import (
    EXTRA_PLACES,
    Places,
    Reservation,
    WitnessedFamily,
    reserve,
)
from llmwiki.store.family_search import chunks_before
from llmwiki.store.found_chunks import read_chunks

WITNESSES_WITH_LEAD_IN = 3
"""The best so many witnesses of a family, for which the chunk before is looked at."""


def reserve_places(
    connection: Connection,
    evidence: Evidence,
    ranking: Sequence[Candidate],
    judge: Judge,
    limit: int,
    trace: Trace,
) -> Reserved:
    """Choose ``limit`` chunks of the ranking so that each required family has its witnesses.

    ``ranking`` is the final order; candidates that it leaves out follow it. Where required
    families need more places there are more, and where they need far more nothing is reserved
    and the step says so.
    """
    ranked = {candidate.id for candidate in ranking}
    whole = (*ranking, *(each for each in evidence.candidates if each.id not in ranked))
    with trace.step("reserve") as step:
        if not evidence.families:
            step.skip("no-families", NO_FAMILIES)
            return _unreserved(evidence, whole, limit)
        families = tuple(
            WitnessedFamily(family=family, witnesses=evidence.witnesses(place, whole))
            for place, family in enumerate(evidence.families)
        )
        before = _lead_ins(connection, families)
        known = {candidate.id for candidate in whole}
        others = judge([chunk_id for chunk_id in before.values() if chunk_id not in known])
        whole = (*whole, *others)
        places = Places(wanted=limit, most=limit + EXTRA_PLACES)
        reservation = reserve(whole, families, places, before)
        reserved = Reserved(
            evidence=evidence, ranking=whole, families=families, reservation=reservation
        )
        _tell(reserved, limit, step)
        return reserved


def _unreserved(evidence: Evidence, whole: Sequence[Candidate], limit: int) -> Reserved:
    return Reserved(
        evidence=evidence,
        ranking=tuple(whole),
        families=(),
        reservation=Reservation(kept=tuple(whole[:limit]), places=limit),
    )


def _lead_ins(
    connection: Connection, families: Sequence[WitnessedFamily]
) -> dict[ChunkId, ChunkId]:
    """Return for the best witnesses the chunks that they need before them."""
    witnesses = {
        witness.id: witness.chunk
        for each in families
        for witness in each.witnesses[:WITNESSES_WITH_LEAD_IN]
    }
    before = chunks_before(connection, witnesses)
    texts = read_chunks(connection, before.values())
    return {
        chunk_id: other
        for chunk_id, other in before.items()
        if other in texts and needs_lead_in(witnesses[chunk_id], texts[other])
    }


def _tell(reserved: Reserved, limit: int, step: OpenStep) -> None:
    reservation = reserved.reservation
    detail = ReserveDetail(
        wanted=limit,
        places=reservation.places,
        witnesses=_witnesses(reserved),
        lead_ins=len(set(reservation.brought_in) - set(reservation.reserved)),
        uncovered=tuple(_uncovered(reserved.families, reservation)),
    )
    if reservation.refused:
        needed = sum(each.attainable for each in reserved.families if each.family.required)
        step.skip(
            "too-many-families",
            f"the required families need up to {needed} places, and {limit + EXTRA_PLACES} is the "
            "most there may be; nothing was reserved, the best chunks are in",
            detail=detail,
        )
    else:
        step.done(detail)


def _witnesses(reserved: Reserved) -> tuple[WitnessFacts, ...]:
    by_id: Mapping[ChunkId, Candidate] = {each.id: each for each in reserved.ranking}
    return tuple(
        WitnessFacts(
            chunk_id=chunk_id,
            families=names,
            document=by_id[chunk_id].chunk.document_path,
            authority_tier=by_id[chunk_id].chunk.authority_tier,
            version=by_id[chunk_id].chunk.version,
            brought_in=chunk_id in reserved.reservation.brought_in,
        )
        for chunk_id, names in reserved.reservation.reserved.items()
    )


def _uncovered(families: Sequence[WitnessedFamily], reservation: Reservation) -> list[str]:
    inside = {candidate.id for candidate in reservation.kept}
    return [
        each.family.name
        for each in families
        if each.family.required
        and sum(witness.id in inside for witness in each.witnesses) < each.family.min
    ]
