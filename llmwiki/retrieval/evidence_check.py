"""Tells whether anything in the corpus speaks of what was asked, without a model.

The best chunks are looked at in two ways: how near they are to the question in the vector
space, and how much of its words they hold. What is needed was measured for the corpus at ingest
(see ``store.calibrations``). It recognises questions about other subjects; a question about this
one that the corpus happens not to answer passes, and is for whoever reads the chunks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.pool import Pool
from llmwiki.store.calibrations import read_calibration
from llmwiki.store.chunk_lexemes import lexemes_of

LOOKED_AT = 5
"""The best chunks; when none of these is evidence, none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceDetail(Detail):
    """The best chunk's closeness and overlap together, and what is needed of them."""

    kind: Literal["evidence"] = "evidence"
    best: float
    needed: float


def has_evidence(
    connection: Connection,
    ranking: Sequence[Candidate],
    pool: Pool,
    collections: Sequence[Collection],
    trace: Trace,
) -> bool:
    """Return whether one of the best chunks speaks of the question.

    Where it cannot be told, since there is no vector or nothing was measured, it is taken for
    granted and the step says so: better a chunk too many than an answer withheld.
    """
    with trace.step("evidence") as step:
        if not ranking:
            step.skip("empty", "no chunk was found")
            return False
        cosines = next((each.scores for each in pool.scores if each.name == "dense"), None)
        if cosines is None:
            step.skip("no-vector", "it cannot be told without a vector: taken for granted")
            return True
        judged = list(_judge(connection, ranking[:LOOKED_AT], pool, cosines, collections))
        if not judged:
            step.skip("not-calibrated", "nothing was measured at ingest: taken for granted")
            return True
        best = max(judged, key=lambda each: each.best - each.needed)
        step.done(best)
        return best.best >= best.needed


def _judge(
    connection: Connection,
    ranking: Sequence[Candidate],
    pool: Pool,
    cosines: Mapping[ChunkId, float],
    collections: Sequence[Collection],
) -> Iterator[EvidenceDetail]:
    calibrations = {of.id: read_calibration(connection, of) for of in collections}
    held = lexemes_of(connection, [candidate.id for candidate in ranking])
    for candidate in ranking:
        calibration = calibrations.get(candidate.chunk.collection_id)
        if calibration is not None and candidate.id in cosines:
            overlap = pool.words.overlap(held.get(candidate.id, frozenset()))
            score = calibration.closeness(cosines[candidate.id]) + overlap
            yield EvidenceDetail(best=round(score, 3), needed=round(calibration.needed, 3))
