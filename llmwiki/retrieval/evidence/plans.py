"""Evidence plans: for a shape of question, the families that each owe it a witness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmwiki.retrieval.evidence.authority import VersionConstraint, has_authority
from llmwiki.retrieval.evidence.patterns import (
    PathPattern,
    Subject,
    TextPattern,
    matches_any,
    path_subject,
    text_subject,
)
from llmwiki.store.found_chunks import FoundChunk

DEFAULT_TIERS = ("official", "approved", "community")
"""Tiers of authority where the configuration names no others, the highest first."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermGroup:
    """Alternatives, one of which must occur in the question."""

    alternatives: tuple[TextPattern, ...]
    place: Place

    def occurs_in(self, question: Subject) -> bool:
        """Tell whether an alternative occurs."""
        return matches_any(self.alternatives, question)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyMatch:
    """What makes a chunk a member: every kind of condition that is given must hold."""

    source: tuple[PathPattern, ...] = ()
    """One of them matches the document's path."""
    heading: tuple[TextPattern, ...] = ()
    """One of them matches the document's title or a heading above the chunk."""
    evidence_family: tuple[str, ...] = ()
    """The document's metadata names one of them, in any case."""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The document's front matter has one of the values under each key, in any case."""

    def holds_document(
        self, *, path: str, evidence_family: str | None, attributes: Mapping[str, Any]
    ) -> bool:
        """Tell whether the document passes all conditions but that of the headings."""
        if self.source and not matches_any(self.source, path_subject(path)):
            return False
        if self.evidence_family and not _is_among(evidence_family, self.evidence_family):
            return False
        return all(
            _is_among(attributes.get(key), wanted) for key, wanted in self.attributes.items()
        )

    def holds_headings(self, breadcrumb: Sequence[str]) -> bool:
        """Tell whether a heading matches, where headings are asked for."""
        return not self.heading or any(
            matches_any(self.heading, text_subject(heading)) for heading in breadcrumb
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFamily:
    """One family of a plan."""

    name: str
    plan: str
    match: FamilyMatch
    rescue: str | None
    authority: str | None
    version: VersionConstraint | None
    min: int
    required: bool
    place: Place

    @property
    def query(self) -> str:
        """What the family's evidence is searched with when too little of it was found."""
        return self.rescue or self.name.replace("-", " ")

    def is_member(self, chunk: FoundChunk) -> bool:
        """Tell whether the chunk belongs to the family, trusted or not."""
        return self.match.holds_document(
            path=chunk.document_path,
            evidence_family=chunk.evidence_family,
            attributes=chunk.attributes,
        ) and self.match.holds_headings(chunk.breadcrumb)

    def admits(self, chunk: FoundChunk, tiers: Sequence[str]) -> bool:
        """Tell whether the chunk has the authority and the version that the family asks for."""
        return self.admits_document(
            authority_tier=chunk.authority_tier, version=chunk.version, tiers=tiers
        )

    def admits_document(
        self, *, authority_tier: str | None, version: str | None, tiers: Sequence[str]
    ) -> bool:
        """Tell whether a document has them; an unknown one has not."""
        return has_authority(authority_tier, self.authority, tiers) and (
            self.version is None or self.version.allows(version)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A recognised shape of question with its families."""

    name: str
    when: tuple[TermGroup, ...]
    families: tuple[PlannedFamily, ...]
    place: Place

    def applies_to(self, question: Subject) -> bool:
        """Tell whether every group of terms occurs in the question."""
        return all(group.occurs_in(question) for group in self.when)


def evidence_plan(question: str, plans: Sequence[Plan]) -> tuple[PlannedFamily, ...]:
    """Return the families of every plan that recognises the question.

    Empty for a question of no known shape, which goes on through normal retrieval.
    """
    subject = text_subject(question)
    return tuple(family for plan in plans if plan.applies_to(subject) for family in plan.families)


def _is_among(value: object, wanted: Sequence[str]) -> bool:
    values = value if isinstance(value, list) else [value]
    known = {str(each).casefold() for each in values if each is not None}
    return any(each.casefold() in known for each in wanted)
