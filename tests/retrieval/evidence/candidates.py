from llmwiki.domain import ChunkId, CollectionId, DocumentId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.store.found_chunks import FoundChunk


def chunk(number: int, **values: object) -> FoundChunk:
    """Return a chunk of a document and a section of its own."""
    known: dict[str, object] = {
        "id": ChunkId(number),
        "collection_id": CollectionId(1),
        "document_id": DocumentId(number),
        "document_path": f"{number}.md",
        "document_title": f"Title {number}",
        "section_id": ChunkId(1000 + number),
        "position": 1,
        "breadcrumb": (f"Title {number}",),
        "text": "text",
        "content_hash": f"h{number}",
        "token_count": 1,
        "attributes": {},
    }
    return FoundChunk(**{**known, **values})  # type: ignore[arg-type]


def candidate(number: int, score: float | None = None, **values: object) -> Candidate:
    """Return a candidate, by default the better the lower its number."""
    value = -float(number) if score is None else score
    return Candidate(chunk=chunk(number, **values), score=value, fused_score=value)
