"""The steps of evidence families over a small corpus, as a retrieval takes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llmwiki.domain import ChunkId
from llmwiki.providers.clock import SystemClock
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.embedding import embed_question
from llmwiki.retrieval.events import Event, Trace
from llmwiki.retrieval.evidence.service import (
    Graded,
    PlanLibrary,
    Reserved,
    Restored,
    find_families,
    grade_families,
    rescue_families,
    reserve_places,
    restore_families,
)
from llmwiki.retrieval.pool import find_candidates, judge_others
from llmwiki.retrieval.tier_opening import open_tiers
from llmwiki.store.collections import select_collections

Cut = Callable[[Sequence[Candidate]], Sequence[Candidate]]


@dataclass(frozen=True)
class Walk:
    """What came of each step."""

    found: tuple[Candidate, ...]
    reserved: Reserved
    graded: Graded
    restored: Restored
    events: tuple[Event, ...]

    @property
    def kept(self) -> list[str]:
        """The documents that are in at the end, in their order."""
        return [each.chunk.document_path for each in self.restored.kept]

    def ended(self, step: str) -> Event:
        """How a step ended."""
        [event] = [each for each in self.events if each.step == step and each.status != "active"]
        return event


def walk(
    parts: Parts,
    question: str,
    plans: PlanLibrary | None = None,
    *,
    limit: int = 4,
    wide: int | None = None,
    cut: Cut = lambda kept: kept,
) -> Walk:
    """Take all steps; ``wide`` bounds what is found, ``cut`` stands for the context's budget."""
    trace = Trace(SystemClock())
    with parts.engine.connect() as connection:
        collections = select_collections(connection)
        vector = embed_question(question, collections, parts.embedder, Trace(SystemClock()))
        opened = open_tiers(
            connection, collections, question, vector, exact_below=parts.settings.exact_below
        )
        whole = find_candidates(connection, opened, parts.settings, Trace(SystemClock()))
        pool = replace(whole, candidates=whole.candidates[:wide])

        def judge(ids: Sequence[ChunkId]) -> Sequence[Candidate]:
            return judge_others(connection, pool, ids)

        evidence = find_families(
            connection,
            collections,
            question,
            pool.candidates,
            settings=parts.settings,
            plans=plans or PlanLibrary(),
            trace=trace,
        )
        evidence = rescue_families(connection, evidence, judge, parts, trace)
        reserved = reserve_places(connection, evidence, evidence.candidates, judge, limit, trace)
        graded = grade_families(connection, reserved, parts, trace)
        restored = restore_families(graded, cut(reserved.kept), trace)
    return Walk(
        found=whole.candidates,
        reserved=reserved,
        graded=graded,
        restored=restored,
        events=trace.events,
    )
