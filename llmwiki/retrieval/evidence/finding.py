"""The step that finds the families of a question."""

from collections.abc import Sequence

import structlog
from sqlalchemy import Connection

from llmwiki.config import RetrievalSettings
from llmwiki.domain import Collection
from llmwiki.errors import ConfigurationError
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.evidence.automatic import automatic_families
from llmwiki.retrieval.evidence.details import FamiliesDetail, FamilyFacts
from llmwiki.retrieval.evidence.evidence import NO_FAMILIES, Evidence
from llmwiki.retrieval.evidence.families import origin_of, plan_of
from llmwiki.retrieval.evidence.plan_files import PlanLibrary, load_plans, plans_folder
from llmwiki.retrieval.evidence.plans import evidence_plan

log = structlog.get_logger()


def open_plans(settings: RetrievalSettings) -> PlanLibrary:
    """Read the configured folder of plans. Never raises: what is wrong is in the library."""
    return load_plans(plans_folder(settings.plans), settings.authority_tiers)


def find_families(  # noqa: PLR0913 - one door, and each argument is a different thing
    connection: Connection,
    collections: Sequence[Collection],
    question: str,
    candidates: Sequence[Candidate],
    *,
    settings: RetrievalSettings,
    plans: PlanLibrary,
    trace: Trace,
) -> Evidence:
    """Return the families of every plan that recognises the question, and the automatic ones.

    A plan that cannot be read makes the step an error; the others are used all the same.
    """
    with trace.step("families") as step:
        planned = evidence_plan(question, plans.plans)
        automatic = (
            automatic_families(connection, collections, question, candidates)
            if settings.automatic_families
            else ()
        )
        evidence = Evidence(
            question=question,
            collections=tuple(collections),
            families=(*planned, *automatic),
            candidates=tuple(candidates),
            tiers=plans.tiers,
        )
        _tell(evidence, plans, step)
        return evidence


def _tell(evidence: Evidence, plans: PlanLibrary, step: OpenStep) -> None:
    detail = FamiliesDetail(families=tuple(_facts(evidence)))
    try:
        plans.require_sound()
    except ConfigurationError as error:
        problems = [str(problem) for problem in plans.problems]
        log.error("plans.broken", problems=problems)  # noqa: TRY400 - a stack tells nothing
        step.fail(error, detail=detail)
        return
    if evidence.families:
        step.done(detail)
    else:
        step.skip("no-families", NO_FAMILIES)


def _facts(evidence: Evidence) -> list[FamilyFacts]:
    return [
        FamilyFacts(
            name=family.name,
            origin=origin_of(family),
            plan=plan_of(family),
            required=family.required,
            min=family.min,
            candidates=len(evidence.witnesses(place, evidence.candidates)),
        )
        for place, family in enumerate(evidence.families)
    ]
