"""What `llmwiki plans test` tells: families, their witnesses, rescues, and what is missing."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypeVar

from llmwiki.retrieval.context import Context
from llmwiki.retrieval.events import Detail
from llmwiki.retrieval.evidence.details import (
    FamiliesDetail,
    FamilyFacts,
    GradeDetail,
    GradeFacts,
    RescueDetail,
    RescueFacts,
    ReserveDetail,
    RestoreDetail,
    WitnessFacts,
)

Told = TypeVar("Told", bound=Detail)

_STEPS = frozenset({"families", "rescue", "reserve", "grade"})


class Trial:
    """The events of evidence families of one retrieval, by family."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.families = _detail(context, FamiliesDetail)
        self.rescues = _detail(context, RescueDetail)
        self.reserved = _detail(context, ReserveDetail)
        self.grades = _detail(context, GradeDetail)
        self.restored = _detail(context, RestoreDetail)

    def facts(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "question": self.context.question,
            "families": [
                {
                    **asdict(family),
                    "grade": _value(self.grade_of(family), "grade"),
                    "score": _value(self.grade_of(family), "score"),
                    "rescued": _value(self.rescue_of(family), "found"),
                    "witnesses": [asdict(witness) for witness in self.witnesses_of(family)],
                    "restored": self.restored_for(family),
                }
                for family in self._known()
            ],
            "missing": list(self.context.missing_families),
            "problems": list(self.problems()),
        }

    def lines(self) -> Iterator[str]:
        """Yield lines for people."""
        for family in self._known():
            asked = f"plan {family.plan}" if family.plan else f"{family.origin}, automatic"
            need = "required" if family.required else "optional"
            yield f"{family.name} ({asked}, {need}): {self._worth(family)}"
            rescue = self.rescue_of(family)
            if rescue is not None:
                yield (
                    f"  rescued: {rescue.found} chunks by {rescue.query!r} in {rescue.searched} "
                    "documents or sections"
                )
            for witness in self.witnesses_of(family):
                known = [witness.authority_tier, witness.version]
                known.append("brought in" if witness.brought_in else "in by its rank")
                yield f"  {witness.document} ({', '.join(filter(None, known))})"
            if (restored := self.restored_for(family)) is not None:
                yield f"  {restored} (restored: what was in spoke of something else)"
        if not self._known():
            yield "no plan recognises the question, and it names fewer than two parts of the corpus"
        if self.context.missing_families:
            yield f"missing: {', '.join(self.context.missing_families)}"

    def problems(self) -> Iterator[str]:
        """Yield what went wrong in the steps of families."""
        for event in self.context.events:
            went_wrong = event.status == "error" or event.reason == "too-many-families"
            if event.step in _STEPS and went_wrong:
                yield f"{event.step}: {event.message}"

    def grade_of(self, family: FamilyFacts) -> GradeFacts | None:
        """Return the grade of a family."""
        grades = () if self.grades is None else self.grades.grades
        return next((g for g in grades if (g.family, g.plan) == (family.name, family.plan)), None)

    def rescue_of(self, family: FamilyFacts) -> RescueFacts | None:
        """Return the search for a family, where there was one."""
        rescues = () if self.rescues is None else self.rescues.rescues
        return next((each for each in rescues if each.family == family.name), None)

    def witnesses_of(self, family: FamilyFacts) -> list[WitnessFacts]:
        """Return the chunks that were reserved for a family."""
        witnesses = () if self.reserved is None else self.reserved.witnesses
        return [each for each in witnesses if family.name in each.families]

    def restored_for(self, family: FamilyFacts) -> str | None:
        """Return the document of the witness that was brought back after grading."""
        restored = () if self.restored is None else self.restored.restored
        chunk_id = _value(self.grade_of(family), "chunk_id")
        documents = {each.id: each.chunk.document_path for each in self.context.ranking}
        return documents.get(chunk_id) if chunk_id in restored else None

    def _known(self) -> tuple[FamilyFacts, ...]:
        return () if self.families is None else self.families.families

    def _worth(self, family: FamilyFacts) -> str:
        grade = self.grade_of(family)
        if grade is None:
            return "not graded"
        return grade.grade if grade.score is None else f"{grade.grade} ({grade.score:.2f})"


def _detail(context: Context, kind: type[Told]) -> Told | None:
    found = (event.detail for event in context.events if isinstance(event.detail, kind))
    return next((detail for detail in found if isinstance(detail, kind)), None)


def _value(facts: GradeFacts | RescueFacts | None, name: str) -> Any:  # noqa: ANN401 - any field
    return None if facts is None else getattr(facts, name)
