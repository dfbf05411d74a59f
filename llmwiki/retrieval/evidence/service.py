"""The steps of evidence families, in the order in which a retrieval takes them.

::

    evidence = find_families(connection, collections, question, candidates,
                             settings=parts.settings, plans=plans, trace=trace)
    evidence = rescue_families(connection, evidence, judge, parts, trace)
    ranking = rerank(question, evidence.candidates, top_n=len(evidence.candidates), …)
    reserved = reserve_places(connection, evidence, ranking, judge, limit, trace)
    graded = grade_families(connection, reserved, parts, trace)
    …   # the context is built from reserved.kept, within its budget of tokens; graded.protected
        # are the chunks that should not be cut for room
    restored = restore_families(graded, kept, trace)

``candidates`` is what was found, in fused order. ``judge`` returns chunks that were not found
as candidates, with the fused score that they have for the question on the scale of the others:
``lambda ids: judge_others(connection, pool, ids)``. ``evidence.candidates`` are the candidates
with those that a rescue found, in fused order. ``restored.kept`` is what the context should hold,
``restored.missing`` the required families that an answer has to tell as not found. ``plans``
comes from ``open_plans(settings)``, once for a process or once for a question.

Where no plan recognises the question, and it names fewer than two parts of the corpus, every step
is skipped, the first ``limit`` of the ranking are kept, and nothing else changes.

A plan that cannot be read is told as an error of the step ``families``, and in the log; the other
plans, the automatic families and the question go on without it.
"""

from llmwiki.retrieval.evidence.evidence import Evidence, Graded, Reserved
from llmwiki.retrieval.evidence.finding import find_families, open_plans
from llmwiki.retrieval.evidence.grading import EvidenceLevels, EvidenceScorer, FamilyGrade
from llmwiki.retrieval.evidence.judging import grade_families, restore_families
from llmwiki.retrieval.evidence.plan_files import PlanLibrary
from llmwiki.retrieval.evidence.rescue import Judge
from llmwiki.retrieval.evidence.rescuing import rescue_families
from llmwiki.retrieval.evidence.reserving import reserve_places
from llmwiki.retrieval.evidence.restoring import Restored

__all__ = [
    "Evidence",
    "EvidenceLevels",
    "EvidenceScorer",
    "FamilyGrade",
    "Graded",
    "Judge",
    "PlanLibrary",
    "Reserved",
    "Restored",
    "find_families",
    "grade_families",
    "open_plans",
    "rescue_families",
    "reserve_places",
    "restore_families",
]
