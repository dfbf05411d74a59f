"""Decides, purely, what an ingest has to do: which files are new, changed, moved or gone."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from llmwiki.domain import DocumentId
from llmwiki.errors import ShrinkRefusedError
from llmwiki.ingest.moves import match_moves
from llmwiki.store.documents import StoredDocument

MOST_REMOVED = 0.5
"""Share of a collection that one run may remove unless it is told that this is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPlan:
    """What to do with each path; whatever is in neither group stays untouched."""

    writes: Mapping[str, DocumentId | None]
    """New and changed files, with the document that each continues."""
    moved: frozenset[str]
    """Those of the writes that continue a document from another path."""
    removals: Mapping[str, DocumentId]
    unchanged: int


def plan_ingest(
    found: Mapping[str, str],
    present: frozenset[str],
    stored: Mapping[str, StoredDocument],
    moves: Mapping[str, DocumentId],
) -> IngestPlan:
    """Compare the folder with the collection.

    ``found`` gives the fingerprint of each readable file, ``present`` every path that exists,
    readable or not: a document whose file cannot be read today is kept as it was.
    """
    changed = {
        path: stored[path].id if path in stored else moves.get(path)
        for path, fingerprint in found.items()
        if path not in stored or stored[path].fingerprint != fingerprint
    }
    continued = set(moves.values())
    return IngestPlan(
        writes=changed,
        moved=frozenset(path for path in changed if path in moves),
        removals={
            path: document.id
            for path, document in stored.items()
            if path not in present and document.id not in continued
        },
        unchanged=len(found) - len(changed),
    )


def find_moves(
    found: Mapping[str, str],
    present: frozenset[str],
    stored: Mapping[str, StoredDocument],
    gone_chunks: Callable[[list[DocumentId]], Mapping[DocumentId, Counter[str]]],
    new_chunks: Callable[[str], Counter[str]],
) -> dict[str, DocumentId]:
    """Return which new path continues which document that is gone.

    The chunks are asked for only where there are both files that came and files that went.
    """
    gone = [document.id for path, document in stored.items() if path not in present]
    new = [path for path in found if path not in stored]
    if not gone or not new:
        return {}
    return match_moves(gone_chunks(gone), {path: new_chunks(path) for path in new})


def refuse_shrinking(plan: IngestPlan, stored_count: int, found_count: int) -> None:
    """Raise ShrinkRefusedError when the run would empty or halve the collection."""
    if stored_count == 0 and found_count > 0:
        return
    if stored_count == 0:
        raise ShrinkRefusedError(
            "the folder holds no readable document; check the path and the endings "
            "(see `llmwiki ingest --help`)"
        )
    removed = len(plan.removals)
    if found_count == 0 or removed > stored_count * MOST_REMOVED:
        raise ShrinkRefusedError(
            f"the folder holds {found_count} readable documents and the run would remove "
            f"{removed} of {stored_count}; nothing was changed. If that is meant, repeat with "
            "--allow-shrink; otherwise check the path"
        )
