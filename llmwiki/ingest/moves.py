"""Recognises, purely, files that were moved: by their passages, since a move often edits too."""

from collections import Counter
from collections.abc import Mapping

from llmwiki.domain import DocumentId

LEAST_SHARED = 0.5
"""Share of the larger file's passages that both must have to count as one document."""


def match_moves(
    gone: Mapping[DocumentId, Counter[str]], new: Mapping[str, Counter[str]]
) -> dict[str, DocumentId]:
    """Return which new path continues which document that is gone.

    Both mappings give the content hashes of passages with their number. The pairs with the
    greatest overlap come first; each file takes part in one pair at most.
    """
    carriers: dict[str, set[DocumentId]] = {}
    for document_id, hashes in gone.items():
        for hash_ in hashes:
            carriers.setdefault(hash_, set()).add(document_id)
    pairs: list[tuple[float, str, DocumentId]] = []
    for path, hashes in new.items():
        candidates = set().union(*(carriers.get(hash_, ()) for hash_ in hashes))
        for document_id in candidates:
            share = _shared(hashes, gone[document_id])
            if share >= LEAST_SHARED:
                pairs.append((-share, path, document_id))
    moves: dict[str, DocumentId] = {}
    for _, path, document_id in sorted(pairs):
        if path not in moves and document_id not in moves.values():
            moves[path] = document_id
    return moves


def _shared(left: Counter[str], right: Counter[str]) -> float:
    return (left & right).total() / max(left.total(), right.total())
