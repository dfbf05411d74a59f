"""Candidates without a database, for tests of what is done with them."""

from collections.abc import Sequence

from llmwiki.domain import ChunkId, CollectionId, DocumentId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.store.found_chunks import FoundChunk

BOTH_TIERS = ("dense", "lexical")


def chunk(number: int, text: str, *, identifiers: Sequence[str] = ()) -> FoundChunk:
    """Return a chunk of a document of one chunk."""
    return FoundChunk(
        id=ChunkId(number),
        collection_id=CollectionId(1),
        document_id=DocumentId(number),
        document_path=f"{number}.md",
        document_title=f"Document {number}",
        section_id=ChunkId(1000 + number),
        position=0,
        breadcrumb=(f"Document {number}",),
        text=text,
        content_hash=f"hash of {text}",
        token_count=len(text.split()),
        identifiers=tuple(identifiers),
        attributes={},
    )


def candidate(
    number: int,
    text: str | None = None,
    *,
    fused: float = 0.0,
    tiers: Sequence[str] = BOTH_TIERS,
    identifiers: Sequence[str] = (),
) -> Candidate:
    """Return a candidate with a text of its own, found by the tiers at its number as rank."""
    said = f"text {number}" if text is None else text
    return Candidate(
        chunk=chunk(number, said, identifiers=identifiers),
        score=fused,
        fused_score=fused,
        ranks=dict.fromkeys(tiers, number),
    )


def ordered(*texts: str) -> tuple[Candidate, ...]:
    """Return candidates 1, 2, … in fused order."""
    return tuple(
        candidate(number, text, fused=1.0 - 0.1 * number)
        for number, text in enumerate(texts, start=1)
    )
