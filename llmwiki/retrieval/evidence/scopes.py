"""Where in the corpus the witnesses of a family can stand."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.retrieval.evidence.plans import PlannedFamily
from llmwiki.store.collections import corpus_version
from llmwiki.store.family_search import document_places, section_places

MOST_KEPT = 256
"""Scopes that a process remembers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Documents as a whole, and single sections of others."""

    documents: tuple[DocumentId, ...] = ()
    sections: tuple[ChunkId, ...] = ()
    documents_of_sections: tuple[DocumentId, ...] = ()

    @property
    def size(self) -> int:
        """How many documents and sections there are."""
        return len(self.documents) + len(self.sections)


_kept: OrderedDict[tuple[str, ...], Scope] = OrderedDict()
_lock = Lock()


def find_scope(
    connection: Connection,
    collections: Sequence[Collection],
    family: PlannedFamily,
    tiers: Sequence[str],
) -> Scope:
    """Return where a chunk can stand that the family admits.

    It is remembered until the collections are ingested again: the patterns are tried on every
    path and heading.
    """
    version = corpus_version(connection, collections)
    key = (str(connection.engine.url), version, repr(family), *tiers)
    with _lock:
        scope = _kept.get(key)
    if scope is None:
        scope = _of_planned(connection, collections, family, tiers)
    with _lock:
        _kept[key] = scope
        _kept.move_to_end(key)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return scope


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
    sections = [
        section
        for section in section_places(connection, documents)
        if family.match.holds_headings(section.breadcrumb)
    ]
    return Scope(
        sections=tuple(section.id for section in sections),
        documents_of_sections=tuple(dict.fromkeys(section.document_id for section in sections)),
    )
