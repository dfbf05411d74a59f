"""What is doubtful about plans that are well-formed: purely, from the places of a corpus."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from llmwiki.domain import ChunkId, DocumentId, Severity
from llmwiki.retrieval.evidence.patterns import Expression
from llmwiki.retrieval.evidence.plan_files import PlanLibrary
from llmwiki.retrieval.evidence.plans import Place, Plan, PlannedFamily
from llmwiki.retrieval.evidence.reservation import EXTRA_PLACES
from llmwiki.store.family_search import DocumentPlace, SectionPlace

LARGEST_SHARE = 0.3
"""Of the corpus. A larger family is found by any search, so that it needs no plan."""

LARGEST_OVERLAP = 0.5
"""Of the smaller of two families. Above it one chunk mostly serves both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFinding:
    """One fault of a plan."""

    code: str
    severity: Severity
    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The places of everything that could be a witness."""

    documents: Mapping[DocumentId, DocumentPlace]
    sections: tuple[SectionPlace, ...]
    sizes: Mapping[ChunkId, int]
    """The chunks of each section."""

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return sum(self.sizes.values())


def check_files(library: PlanLibrary, *, limit: int) -> Iterator[PlanFinding]:
    """Yield what can be told without a corpus; contexts are of ``limit`` chunks."""
    for problem in library.problems:
        yield PlanFinding(
            code="invalid", severity="error", place=problem.place, message=problem.message
        )
    for plan in library.plans:
        yield from _check_conditions(plan)
        yield from _check_number(plan, limit)
        for family in plan.families:
            if family.rescue is None:
                yield PlanFinding(
                    code="no-rescue",
                    severity="warning",
                    place=family.place,
                    message=f"family {family.name!r} has no `rescue`, so that missing evidence "
                    f"is searched with its name; write the query that finds it",
                )


def check_corpus(library: PlanLibrary, corpus: Corpus) -> Iterator[PlanFinding]:
    """Yield what the families hold in the corpus that they should not, or do not and should."""
    for plan in library.plans:
        members = {family.name: members_of(family, corpus) for family in plan.families}
        for family in plan.families:
            yield from _check_size(family, members[family.name], corpus)
            yield from _check_gates(family, members[family.name], corpus, library.tiers)
        yield from _check_overlaps(plan, members, corpus)


def members_of(family: PlannedFamily, corpus: Corpus) -> frozenset[ChunkId]:
    """Return the sections that belong to the family, trusted or not."""
    held = {
        document.id: document
        for document in corpus.documents.values()
        if family.match.holds_document(
            path=document.path,
            evidence_family=document.evidence_family,
            attributes=document.attributes,
        )
    }
    return frozenset(
        section.id
        for section in corpus.sections
        if section.document_id in held and family.match.holds_headings(section.breadcrumb)
    )


def _check_conditions(plan: Plan) -> Iterator[PlanFinding]:
    for group in plan.when:
        for pattern in group.alternatives:
            if isinstance(pattern, Expression) and pattern.matches_everything():
                yield PlanFinding(
                    code="always",
                    severity="warning",
                    place=group.place,
                    message=f"{pattern} matches every question, so the group decides nothing",
                )


def _check_number(plan: Plan, limit: int) -> Iterator[PlanFinding]:
    needed = sum(family.min for family in plan.families if family.required)
    if needed > limit + EXTRA_PLACES:
        yield PlanFinding(
            code="too-many",
            severity="error",
            place=plan.place,
            message=f"the required families of plan {plan.name!r} can need {needed} chunks, and "
            f"{limit + EXTRA_PLACES} is the most that a context of {limit} grows to; divide it",
        )
    elif needed > limit:
        yield PlanFinding(
            code="many",
            severity="warning",
            place=plan.place,
            message=f"the required families of plan {plan.name!r} can need {needed} chunks, "
            f"more than the {limit} of a context, which then grows",
        )


def _check_size(
    family: PlannedFamily, members: frozenset[ChunkId], corpus: Corpus
) -> Iterator[PlanFinding]:
    chunks = _chunks(members, corpus)
    if not chunks:
        yield _about(family, "matches-nothing", "error", "matches no chunk of the corpus")
    elif chunks == corpus.chunks:
        yield _about(family, "matches-everything", "error", "matches every chunk of the corpus")
    elif chunks > LARGEST_SHARE * corpus.chunks:
        share = f"{chunks / corpus.chunks:.0%}"
        yield _about(
            family, "matches-much", "warning", f"matches {share} of the corpus; match less"
        )


def _check_gates(
    family: PlannedFamily,
    members: frozenset[ChunkId],
    corpus: Corpus,
    tiers: Sequence[str],
) -> Iterator[PlanFinding]:
    documents = {each.document_id for each in corpus.sections if each.id in members}
    if documents and not any(
        family.admits_document(
            authority_tier=corpus.documents[document].authority_tier,
            version=corpus.documents[document].version,
            tiers=tiers,
        )
        for document in documents
    ):
        asked = [f"authority {family.authority}"] if family.authority else []
        asked += [f"version {family.version}"] if family.version else []
        yield _about(
            family,
            "no-witness",
            "error",
            f"matches chunks, none of them with {' and '.join(asked)}",
        )


def _check_overlaps(
    plan: Plan, members: Mapping[str, frozenset[ChunkId]], corpus: Corpus
) -> Iterator[PlanFinding]:
    for one, other in combinations(plan.families, 2):
        smaller = min(_chunks(members[one.name], corpus), _chunks(members[other.name], corpus))
        shared = _chunks(members[one.name] & members[other.name], corpus)
        if smaller and shared > LARGEST_OVERLAP * smaller:
            yield _about(
                other,
                "overlap",
                "warning",
                f"shares {shared} of {smaller} chunks with family {one.name!r}, so that one "
                "witness mostly serves both",
            )


def _chunks(members: frozenset[ChunkId], corpus: Corpus) -> int:
    return sum(corpus.sizes.get(section, 0) for section in members)


def _about(family: PlannedFamily, code: str, severity: Severity, message: str) -> PlanFinding:
    return PlanFinding(
        code=code,
        severity=severity,
        place=family.place,
        message=f"family {family.name!r} {message}",
    )
