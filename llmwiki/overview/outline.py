"""The corpus as the overview sees it: documents, their sections, the size of each."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from llmwiki.domain import ChunkId


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOutline:
    """A section with its chunks; ``token_counts`` runs beside ``chunk_ids``."""

    breadcrumb: tuple[str, ...]
    chunk_ids: tuple[ChunkId, ...]
    content_hashes: tuple[str, ...]
    token_counts: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all chunks."""
        return sum(self.token_counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOutline:
    """A document in reading order."""

    path: str
    title: str
    sections: tuple[SectionOutline, ...]

    @property
    def folder(self) -> str:
        """Path of the folder, empty for the root."""
        folder = str(PurePosixPath(self.path).parent)
        return "" if folder == "." else folder

    @property
    def tokens(self) -> int:
        """Tokens of all sections."""
        return sum(section.tokens for section in self.sections)

    @property
    def chunk_ids(self) -> tuple[ChunkId, ...]:
        """Chunks of all sections."""
        return tuple(chunk for section in self.sections for chunk in section.chunk_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedTopic:
    """A topic as the corpus of today suggests it, before it meets those of yesterday."""

    key: str
    title: str
    folder: str
    chunk_ids: tuple[ChunkId, ...]
