"""What the steps of evidence families hand on to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llmwiki.domain import ChunkId, Collection
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.authority import precedence
from llmwiki.retrieval.evidence.families import EvidenceFamily
from llmwiki.retrieval.evidence.grading import FamilyGrade
from llmwiki.retrieval.evidence.reservation import Reservation, WitnessedFamily
from llmwiki.retrieval.normalisation import standard_scores

NO_FAMILIES = "no plan recognises the question, and it names fewer than two parts of the corpus"
"""Why the steps are skipped for most questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The families of a question, and everything that could be a witness."""

    question: str
    collections: tuple[Collection, ...]
    families: tuple[EvidenceFamily, ...]
    candidates: tuple[Candidate, ...]
    """All that was found, in fused order."""
    tiers: tuple[str, ...]
    """Of authority, the highest first."""
    witness_scores: Mapping[int, Mapping[ChunkId, float]] = field(default_factory=dict)
    """The own order of families that were rescued, by their place."""

    def witnesses(self, place: int, ranking: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return the witnesses of the family at a place, the best first.

        By the order of a reranker where there was one, else by the family's own order where it
        has one, else by the ranking. Among witnesses that are equally good, to a tenth of a
        standard deviation, authority decides and then the version: nowhere else.
        """
        family = self.families[place]
        found = [
            each
            for each in ranking
            if family.is_member(each.chunk) and family.admits(each.chunk, self.tiers)
        ]
        own = self.witness_scores.get(place, {})
        reranked = any(each.score != each.fused_score for each in found)
        relevance = {each.id: each.score for each in found}
        if not reranked and all(each.id in own for each in found):
            relevance = {each.id: own[each.id] for each in found}
        standard = standard_scores(relevance, list(relevance))
        return tuple(
            sorted(
                found,
                key=lambda each: (
                    round(standard[each.id], 1),
                    precedence(each.chunk, self.tiers),
                    standard[each.id],
                ),
                reverse=True,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The chunks that have a place, and all that stood for one."""

    evidence: Evidence
    ranking: tuple[Candidate, ...]
    """Everything, in the final order."""
    families: tuple[WitnessedFamily, ...]
    reservation: Reservation

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """What is in, in the final order."""
        return self.reservation.kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What each family's evidence is worth."""

    reserved: Reserved
    grades: tuple[FamilyGrade, ...]

    @property
    def protected(self) -> frozenset[ChunkId]:
        """The witnesses of required families that may speak for them: not to be cut for room."""
        return frozenset(
            each.witness.id
            for each in self.grades
            if each.family.required and each.is_validated and each.witness is not None
        )
