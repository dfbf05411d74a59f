"""Chooses the units of a page: the most of what the sources speak of, in the fewest tokens.

Selection as budgeted maximum coverage of weighted concepts (Filatova and Hatzivassiloglou, "A
formal model for information selection in multi-sentence text extraction", 2004): a concept
weighs more the more units have it, and counts once, so that what is central comes first and what
repeats it adds nothing. Chosen greedily by gain over cost, with the cost scaled by a power (Lin
and Bilmes, "Multi-document summarization via budgeted maximization of submodular functions",
2010), on a heap of gains that are brought up to date when they surface (Minoux, 1978).
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

COST_POWER = 0.7
"""Below 1, so that a long unit that says much is not beaten by a short one that says little."""
_DEEPEST_NEED = 24
"""Needs followed at once; beyond, a unit waits until what it needs was chosen for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit as the ranking sees it."""

    tokens: int
    concepts: frozenset[str]
    factor: float
    """Multiplies the gain; zero for what is never chosen for itself."""
    needs: int | None


@dataclass(slots=True)
class Selection:
    """What has been chosen so far."""

    candidates: Sequence[Candidate]
    weights: Mapping[str, float]
    chosen: set[int] = field(default_factory=set)
    tokens: int = 0
    _covered: set[str] = field(default_factory=set)

    def with_needs(self, index: int) -> list[int] | None:
        """Return the unit and all that it needs and that is not chosen; None for too much."""
        needed: list[int] = []
        current: int | None = index
        while current is not None and current not in self.chosen:
            if len(needed) > _DEEPEST_NEED:
                return None
            needed.append(current)
            current = self.candidates[current].needs
        return needed

    def density(self, index: int) -> float:
        """Return the gain of a unit, with all that it needs, over their cost."""
        factor = self.candidates[index].factor
        members = self.with_needs(index) if factor > 0 else None
        if not members:
            return 0.0
        new: set[str] = {
            concept
            for member in members
            for concept in self.candidates[member].concepts
            if concept not in self._covered
        }
        gain = fsum(self.weights[concept] for concept in new)
        scaled_cost: float = self._cost(members) ** COST_POWER
        return factor * gain / scaled_cost

    def fits(self, index: int, limit: int) -> bool:
        """Tell whether the unit and its needs can be added within the limit of tokens."""
        members = self.with_needs(index)
        return members is not None and self.tokens + self._cost(members) <= limit

    def choose(self, index: int) -> Sequence[int]:
        """Add a unit and all that it needs, and return them."""
        members = self.with_needs(index) or []
        for member in members:
            self.chosen.add(member)
            self.tokens += self.candidates[member].tokens
            self._covered |= self.candidates[member].concepts
        return members

    def _cost(self, members: Sequence[int]) -> int:
        return max(1, sum(self.candidates[member].tokens for member in members))


def fill(selection: Selection, limit: int) -> None:
    """Add units, the best gain over cost first, until none fits within the limit of tokens."""
    dependents = _dependents(selection.candidates)
    heap: list[tuple[float, int]] = []
    _push(heap, selection, range(len(selection.candidates)))
    while heap:
        stated, index = heapq.heappop(heap)
        if index in selection.chosen:
            continue
        if selection.density(index) < -stated:
            _push(heap, selection, [index])
        elif selection.fits(index, limit):
            members = selection.choose(index)
            # What needs them has become cheaper, now that they are on the page.
            for member in members:
                _push(heap, selection, dependents.get(member, ()))


def _push(heap: list[tuple[float, int]], selection: Selection, indexes: Iterable[int]) -> None:
    for index in indexes:
        density = selection.density(index)
        if density > 0:
            heapq.heappush(heap, (-density, index))


def _dependents(candidates: Sequence[Candidate]) -> Mapping[int, Sequence[int]]:
    dependents: dict[int, list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        if candidate.needs is not None:
            dependents[candidate.needs].append(index)
    return dependents
