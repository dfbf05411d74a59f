"""Evidence families of one question: those of a plan, and those that its own words name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from llmwiki.domain import ChunkId, DocumentId
from llmwiki.retrieval.evidence.plans import PlannedFamily
from llmwiki.store.found_chunks import FoundChunk

Origin = Literal["plan", "named", "mentioned"]
"""Why a family is asked for: a plan says so; the question names a part of the corpus; or what
the question names does, in the chunk that tells of it."""


class EvidenceFamily(Protocol):
    """What owes a question witnesses."""

    @property
    def name(self) -> str:
        """How people call it."""
        ...

    @property
    def min(self) -> int:
        """How many witnesses it owes."""
        ...

    @property
    def required(self) -> bool:
        """Whether an answer without a witness of it is incomplete."""
        ...

    @property
    def query(self) -> str:
        """What its evidence is searched with."""
        ...

    def is_member(self, chunk: FoundChunk) -> bool:
        """Tell whether the chunk belongs to it, trusted or not."""
        ...

    def admits(self, chunk: FoundChunk, tiers: Sequence[str]) -> bool:
        """Tell whether the chunk has the authority and the version that it asks for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFamily:
    """A part of the corpus that is called by its name.

    Never required: that the words of a question coincide with a title proves no obligation. So
    it takes free slots only, and is not told as missing.
    """

    name: str
    origin: Literal["named", "mentioned"]
    documents: frozenset[DocumentId] = frozenset()
    sections: frozenset[ChunkId] = frozenset()
    metadata: str | None = None
    """The documents whose `evidence_family` it is."""

    @property
    def min(self) -> int:
        """One witness."""
        return 1

    @property
    def required(self) -> bool:
        """False; see the class."""
        return False

    @property
    def query(self) -> str:
        """The name."""
        return self.name

    def is_member(self, chunk: FoundChunk) -> bool:
        """Tell whether the chunk stands in what is named."""
        return (
            chunk.document_id in self.documents
            or chunk.section_id in self.sections
            or (
                self.metadata is not None
                and (chunk.evidence_family or "").casefold() == self.metadata.casefold()
            )
        )

    def admits(self, chunk: FoundChunk, tiers: Sequence[str]) -> bool:
        """Admit every chunk."""
        del chunk, tiers
        return True


def origin_of(family: EvidenceFamily) -> Origin:
    """Return why the family is asked for."""
    return family.origin if isinstance(family, NamedFamily) else "plan"


def plan_of(family: EvidenceFamily) -> str | None:
    """Return the plan that asks for the family."""
    return family.plan if isinstance(family, PlannedFamily) else None
