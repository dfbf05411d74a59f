"""What the steps of evidence families say of themselves."""

from dataclasses import dataclass
from typing import Literal

from llmwiki.domain import ChunkId
from llmwiki.retrieval.events import Detail
from llmwiki.retrieval.evidence.families import Origin

Grade = Literal["ok", "ambiguous", "missing"]
"""Whether the best witness of a family speaks of what the family is for."""

GradeMethod = Literal["overlap", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFacts:
    """A family of the question."""

    name: str
    origin: Origin
    plan: str | None
    required: bool
    min: int
    candidates: int
    """Witnesses among what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamiliesDetail(Detail):
    """Which kinds of evidence the question needs."""

    kind: Literal["families"] = "families"
    families: tuple[FamilyFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueFacts:
    """One search for the evidence of one family."""

    family: str
    found: int
    """Chunks that became candidates by it."""
    query: str
    searched: int
    """Documents and sections that the search kept to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueDetail(Detail):
    """The searches for families with too few witnesses."""

    kind: Literal["rescue"] = "rescue"
    method: str
    """The tiers that searched."""
    rescues: tuple[RescueFacts, ...]
    without_vectors: str | None = None
    """Why the searches went by words alone, where they did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessFacts:
    """A chunk that has a place as a witness."""

    document: str
    families: tuple[str, ...]
    chunk_id: ChunkId
    authority_tier: str | None
    version: str | None
    brought_in: bool
    """It would not be in by its rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveDetail(Detail):
    """Who has a place in the context."""

    kind: Literal["reserve"] = "reserve"
    wanted: int
    places: int
    witnesses: tuple[WitnessFacts, ...]
    lead_ins: int
    """Chunks that are in since a witness says nothing without them."""
    uncovered: tuple[str, ...]
    """Required families that have fewer witnesses than they owe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeFacts:
    """What the evidence of one family is worth."""

    family: str
    grade: Grade
    plan: str | None
    required: bool
    score: float | None
    """Of the best witness; None where the model judged, or there is no witness."""
    chunk_id: ChunkId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeDetail(Detail):
    """Whether each family has what it owes."""

    kind: Literal["grade"] = "grade"
    method: GradeMethod
    grades: tuple[GradeFacts, ...]
    model: str | None = None
    from_cache: bool = False
    without_model: str | None = None
    """Why the model was not asked, or not believed, where it should have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreDetail(Detail):
    """The witnesses that came back, and the families that have none."""

    kind: Literal["restore"] = "restore"
    restored: tuple[ChunkId, ...]
    missing: tuple[str, ...]
