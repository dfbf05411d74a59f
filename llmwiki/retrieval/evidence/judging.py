"""The steps that grade the evidence of each family, and bring back what was lost of it."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from llmwiki.errors import BudgetExhaustedError, QuotaExhaustedError
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.evidence.details import Grade, GradeDetail, GradeFacts, RestoreDetail
from llmwiki.retrieval.evidence.evidence import NO_FAMILIES, Graded, Reserved
from llmwiki.retrieval.evidence.families import plan_of
from llmwiki.retrieval.evidence.grading import (
    EvidenceLevels,
    EvidenceScorer,
    FamilyGrade,
    grade_family,
    overlap_scores,
)
from llmwiki.retrieval.evidence.model_grading import ModelGrades, grade_with_model
from llmwiki.retrieval.evidence.reservation import WitnessedFamily
from llmwiki.retrieval.evidence.restoring import Restored, missing_families, restore

WITNESSES_GRADED = 3
"""The best so many witnesses of a family, beside those that are in."""


def grade_families(
    connection: Connection,
    reserved: Reserved,
    parts: Parts,
    trace: Trace,
    *,
    levels: EvidenceLevels | None = None,
    scorer: EvidenceScorer = overlap_scores,
) -> Graded:
    """Grade each family by its best witness; the model is asked where it may be and is free.

    A model is asked by one call for the families that plans ask for, never for automatic ones.
    """
    with trace.step("grade") as step:
        if not reserved.families:
            step.skip("no-families", NO_FAMILIES)
            return Graded(reserved=reserved, grades=())
        grades = [
            _grade(connection, reserved, each, levels or EvidenceLevels(), scorer)
            for each in reserved.families
        ]
        asked = [place for place, each in enumerate(grades) if _may_be_asked_for(each)]
        if not parts.settings.grade_with_model or not asked:
            step.done(GradeDetail(method="overlap", grades=_facts(grades)))
        elif parts.model is None:
            problem = "no model is configured"
            step.done(GradeDetail(method="overlap", grades=_facts(grades), without_model=problem))
        else:
            connection.commit()  # no transaction is open while the model works
            families = [grades[place] for place in asked]
            said = grade_with_model(reserved.evidence.question, families, parts, parts.model)
            for place, grade in said.grades.items():
                grades[asked[place]] = _as_said(grades[asked[place]], grade)
            _tell(said, grades, parts.model.name, step)
        return Graded(reserved=reserved, grades=tuple(grades))


def _may_be_asked_for(grade: FamilyGrade) -> bool:
    return plan_of(grade.family) is not None and grade.witness is not None


def restore_families(graded: Graded, kept: Sequence[Candidate], trace: Trace) -> Restored:
    """Return what was kept with the validated witnesses that a later step dropped.

    Where there were too many families to reserve places for, nothing is brought back either.
    """
    with trace.step("restore") as step:
        grades = () if graded.reserved.reservation.refused else graded.grades
        reserved = graded.reserved
        restored = restore(kept, reserved.ranking, grades, reserved.reservation.reserved)
        missing = missing_families(restored.kept, graded.grades)
        detail = RestoreDetail(restored=restored.restored, missing=missing)
        if not graded.grades:
            step.skip("no-families", NO_FAMILIES)
        elif restored.restored or missing:
            step.done(detail)
        else:
            step.skip("nothing-lost", "every required family has its witness", detail=detail)
        return replace(restored, missing=missing)


def _grade(
    connection: Connection,
    reserved: Reserved,
    witnessed: WitnessedFamily,
    levels: EvidenceLevels,
    scorer: EvidenceScorer,
) -> FamilyGrade:
    inside = {candidate.id for candidate in reserved.kept}
    staying = [each for each in witnessed.witnesses if each.id in inside]
    others = [each for each in witnessed.witnesses if each.id not in inside][:WITNESSES_GRADED]
    query = witnessed.family.query
    collections = reserved.evidence.collections
    scores = scorer(connection, collections, query, [each.id for each in (*staying, *others)])
    grade = grade_family(witnessed.family, staying, scores, levels)
    # One that is not in is asked for only where none that is in may speak.
    return (
        grade
        if grade.is_validated
        else grade_family(witnessed.family, (*staying, *others), scores, levels)
    )


def _as_said(grade: FamilyGrade, said: Grade) -> FamilyGrade:
    """Put the model's word in the place of the score: it judged the best witness alone."""
    witness = grade.witness
    speaks = said != "missing" and witness is not None
    return replace(
        grade,
        grade=said,
        score=None,
        validated=frozenset({witness.id}) if speaks and witness is not None else frozenset(),
    )


def _tell(said: ModelGrades, grades: Sequence[FamilyGrade], model: str, step: OpenStep) -> None:
    if said.failure is None:
        step.done(
            GradeDetail(
                method="model", grades=_facts(grades), model=model, from_cache=said.from_cache
            ),
            usage=said.usage,
        )
        return
    detail = GradeDetail(
        method="overlap", grades=_facts(grades), model=model, without_model=str(said.failure)
    )
    if isinstance(said.failure, BudgetExhaustedError | QuotaExhaustedError):
        step.done(detail, usage=said.usage)
    else:
        step.fail(said.failure, detail=detail, usage=said.usage)


def _facts(grades: Sequence[FamilyGrade]) -> tuple[GradeFacts, ...]:
    return tuple(
        GradeFacts(
            family=each.family.name,
            plan=plan_of(each.family),
            required=each.family.required,
            grade=each.grade,
            score=each.score,
            chunk_id=None if each.witness is None else each.witness.id,
        )
        for each in grades
    )
