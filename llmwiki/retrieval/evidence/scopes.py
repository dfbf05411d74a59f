"""Where in the corpus the witnesses of a family can stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.retrieval.evidence.families import EvidenceFamily, NamedFamily
from llmwiki.retrieval.evidence.plans import PlannedFamily
from llmwiki.store.family_search import document_places, documents_of_family, section_places


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Documents as a whole, and single sections of others."""

    documents: tuple[DocumentId, ...] = ()
    sections: tuple[ChunkId, ...] = ()

    @property
    def size(self) -> int:
        """How many documents and sections there are."""
        return len(self.documents) + len(self.sections)


def find_scope(
    connection: Connection,
    collections: Sequence[Collection],
    family: EvidenceFamily,
    tiers: Sequence[str],
) -> Scope:
    """Return where a passage can stand that the family admits."""
    if isinstance(family, PlannedFamily):
        return _of_planned(connection, collections, family, tiers)
    if isinstance(family, NamedFamily):
        documents = set(family.documents)
        if family.metadata is not None:
            documents.update(documents_of_family(connection, collections, family.metadata))
        return Scope(documents=tuple(sorted(documents)), sections=tuple(sorted(family.sections)))
    raise TypeError(family)


def _of_planned(
    connection: Connection,
    collections: Sequence[Collection],
    family: PlannedFamily,
    tiers: Sequence[str],
) -> Scope:
    documents = tuple(
        place.id
        for place in document_places(connection, collections)
        if family.match.holds_document(
            path=place.path, evidence_family=place.evidence_family, attributes=place.attributes
        )
        and family.admits_document(
            authority_tier=place.authority_tier, version=place.version, tiers=tiers
        )
    )
    if not family.match.heading:
        return Scope(documents=documents)
    return Scope(
        sections=tuple(
            section.id
            for section in section_places(connection, documents)
            if family.match.holds_headings(section.breadcrumb)
        )
    )
