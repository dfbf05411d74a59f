"""Brings validated witnesses back that a later step dropped, purely."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.grading import FamilyGrade


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What is in after restoring, in the order of the ranking."""

    kept: tuple[Candidate, ...]
    restored: tuple[ChunkId, ...]
    missing: tuple[str, ...]
    """Required families that nothing of it may speak for."""


def restore(
    kept: Sequence[Candidate],
    ranking: Sequence[Candidate],
    grades: Sequence[FamilyGrade],
    reserved: Mapping[ChunkId, Sequence[str]],
) -> Restored:
    """Return what was kept with the validated witness of each required family that lost all.

    What comes back takes the place of the lowest chunk that no family needs: that speaks for
    none, and is not ``reserved`` for another family than those that lost theirs. Where there is
    no such chunk it is added. ``ranking`` gives the order, and holds all that was kept.
    """
    validated = [each for each in grades if each.family.required and each.is_validated]
    inside = {candidate.id for candidate in kept}
    lost = {
        each.family.name: each.witness
        for each in validated
        if each.witness is not None and inside.isdisjoint(each.validated)
    }
    needed = {chunk_id for each in validated for chunk_id in each.validated}
    needed |= {chunk_id for chunk_id, names in reserved.items() if not set(names) <= lost.keys()}
    returning = {witness.id: witness for witness in lost.values()}
    together = {
        each.id: each for each in (*_making_room(kept, len(returning), needed), *returning.values())
    }
    order = {candidate.id: place for place, candidate in enumerate(ranking)}
    return Restored(
        kept=tuple(sorted(together.values(), key=lambda each: order.get(each.id, len(order)))),
        restored=tuple(returning),
        missing=missing_families(tuple(together.values()), grades),
    )


def missing_families(kept: Sequence[Candidate], grades: Sequence[FamilyGrade]) -> tuple[str, ...]:
    """Return the required families that nothing of what was kept may speak for."""
    inside = {candidate.id for candidate in kept}
    return tuple(
        each.family.name
        for each in grades
        if each.family.required and inside.isdisjoint(each.validated)
    )


def _making_room(kept: Sequence[Candidate], count: int, needed: set[ChunkId]) -> list[Candidate]:
    """Leave out so many of the lowest chunks that are not needed, as far as there are any."""
    free = [candidate.id for candidate in kept if candidate.id not in needed]
    leaving = set(free[len(free) - min(count, len(free)) :])
    return [candidate for candidate in kept if candidate.id not in leaving]
