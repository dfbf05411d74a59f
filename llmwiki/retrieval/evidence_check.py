"""Tells whether anything in the corpus speaks of what was asked, without a model.

The best passages are looked at in two ways: how near they are to the question in the vector
space, and how much of its words they hold. What is needed was measured for the corpus at ingest
(see ``store.calibrations``). It recognises questions about other subjects; a question about this
one that the corpus happens not to answer passes, and is for whoever reads the passages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.pool import Pool
from llmwiki.store.calibrations import Calibration, read_calibration
from llmwiki.store.passage_lexemes import lexemes_of
from llmwiki.store.word_statistics import question_terms, rarity, read_extents

LOOKED_AT = 5
"""The best passages; when none of these is evidence, none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceDetail(Detail):
    """The best passage's closeness and overlap together, and what is needed of them."""

    kind: Literal["evidence"] = "evidence"
    best: float
    needed: float


def has_evidence(
    connection: Connection,
    question: str,
    ranking: Sequence[Candidate],
    pool: Pool,
    collections: Sequence[Collection],
    trace: Trace,
) -> bool:
    """Return whether one of the best passages speaks of the question.

    Where it cannot be told, since there is no vector or nothing was measured, it is taken for
    granted and the step says so: better a passage too many than an answer withheld.
    """
    with trace.step("evidence") as step:
        if not ranking:
            step.skip("empty", "no passage was found")
            return False
        cosines = next((each.scores for each in pool.scores if each.name == "dense"), None)
        calibrations = {of.id: read_calibration(connection, of) for of in collections}
        best: float | None = None
        needed = 0.0
        looked_at = ranking[:LOOKED_AT]
        overlaps = _overlaps(connection, question, looked_at, collections)
        extents = read_extents(connection, collections)
        for candidate in looked_at:
            calibration = calibrations.get(candidate.passage.collection_id)
            if calibration is None or cosines is None or candidate.id not in cosines:
                continue
            passages = extents[candidate.passage.collection_id].passages
            score = evidence_of(calibration, cosines[candidate.id], overlaps[candidate.id])
            wanted = calibration.evidence_needed(passages)
            if best is None or score - wanted > best - needed:
                best, needed = score, wanted
        if best is None:
            reason = "no-vector" if cosines is None else "not-calibrated"
            step.skip(reason, "it cannot be told here, so it is taken for granted")
            return True
        step.done(EvidenceDetail(best=round(best, 3), needed=round(needed, 3)))
        return best >= needed


def evidence_of(calibration: Calibration, cosine: float, overlap: float) -> float:
    """Return closeness and overlap together, from 0 to 2."""
    return calibration.closeness(cosine) + overlap


def _overlaps(
    connection: Connection,
    question: str,
    ranking: Sequence[Candidate],
    collections: Sequence[Collection],
) -> Mapping[ChunkId, float]:
    """Return the share of the question's words that each passage holds, weighed by rarity.

    A word that the corpus does not have weighs most: it may be all that the question is about.
    """
    held = lexemes_of(connection, [candidate.id for candidate in ranking])
    overlaps: dict[ChunkId, float] = {}
    for collection in collections:
        passages = read_extents(connection, [collection])[collection.id].passages
        weights = {
            term.lexeme: rarity(passages, term.frequency)
            for term in question_terms(connection, [collection], question)
        }
        total = sum(weights.values())
        for candidate in ranking:
            if candidate.passage.collection_id == collection.id:
                lexemes = held.get(candidate.id, frozenset())
                matched = sum(weight for lexeme, weight in weights.items() if lexeme in lexemes)
                overlaps[candidate.id] = matched / total if total else 0.0
    return overlaps
