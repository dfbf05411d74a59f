"""Recognises, purely, files that were moved: by their chunks, since a move often edits too."""

from collections import Counter
from collections.abc import Mapping

from llmwiki.domain import DocumentId

LEAST_SHARED = 0.5
"""Share of the larger file's chunks that both must have to count as one document."""


def match_moves(
    gone: Mapping[DocumentId, Counter[str]], new: Mapping[str, Counter[str]]
) -> dict[str, DocumentId]:
    """Return which new path continues which document that is gone.

    Both mappings give the content hashes of chunks with their number. The pairs with the
    greatest overlap come first; each file takes part in one pair at most.
    """
    moves = _identical(gone, new)
    taken = set(moves.values())
    carriers: dict[str, set[DocumentId]] = {}
    for document_id, hashes in gone.items():
        if document_id in taken:
            continue
        for hash_ in hashes:
            carriers.setdefault(hash_, set()).add(document_id)
    pairs: list[tuple[float, str, DocumentId]] = []
    for path, hashes in new.items():
        if path in moves:
            continue
        candidates = set().union(*(carriers.get(hash_, ()) for hash_ in hashes))
        for document_id in candidates:
            share = _shared(hashes, gone[document_id])
            if share >= LEAST_SHARED:
                pairs.append((-share, path, document_id))
    for _, path, document_id in sorted(pairs):
        if path not in moves and document_id not in taken:
            moves[path] = document_id
            taken.add(document_id)
    return moves


def _identical(
    gone: Mapping[DocumentId, Counter[str]], new: Mapping[str, Counter[str]]
) -> dict[str, DocumentId]:
    """Pair files with just the same chunks, in order: many alike cost no comparison of all."""
    waiting: dict[frozenset[tuple[str, int]], list[DocumentId]] = {}
    for document_id in sorted(gone, reverse=True):
        if gone[document_id]:
            waiting.setdefault(frozenset(gone[document_id].items()), []).append(document_id)
    moves = {}
    for path in sorted(new):
        alike = waiting.get(frozenset(new[path].items()))
        if alike:
            moves[path] = alike.pop()
    return moves


def _shared(left: Counter[str], right: Counter[str]) -> float:
    return (left & right).total() / max(left.total(), right.total())
