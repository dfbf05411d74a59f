"""Reserves places for witnesses, purely: it changes what is in, and never the order.

Top-k relevance is not completeness: six chunks on one of three things that a question needs
leave no place for the other two. So each family gets its witnesses first, the scarcest family
before the others, and the rest is filled by rank. A chunk that serves two families serves both.
What comes out stands in the order that the ranking had.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.families import EvidenceFamily

EXTRA_PLACES = 10
"""So many places beyond the wanted ones are added for required families at most."""

OPTIONAL_SHARE = 0.5
"""Of the places that families which are not required may take from better chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessedFamily:
    """A family with its witnesses among the candidates, the best witness first."""

    family: EvidenceFamily
    witnesses: tuple[Candidate, ...]

    @property
    def attainable(self) -> int:
        """How many of the witnesses that it owes there are."""
        return min(self.family.min, len(self.witnesses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """How many chunks there may be."""

    wanted: int
    most: int
    """To which the number is raised where required families need more than is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What is in, in the order of the ranking."""

    kept: tuple[Candidate, ...]
    reserved: Mapping[ChunkId, tuple[str, ...]] = field(default_factory=dict)
    """The families that each reserved chunk is a witness of."""
    brought_in: tuple[ChunkId, ...] = ()
    """Chunks that are in by reservation alone."""
    places: int
    refused: bool = False
    """Required families need more places than may be: none was reserved."""


@dataclass(slots=True)
class _Seats:
    """The chunks that have a place, while places are given."""

    top: frozenset[ChunkId]
    """What is in by rank alone, before anything is reserved."""
    taken: dict[ChunkId, list[str]] = field(default_factory=dict)

    def seat(self, witnessed: WitnessedFamily, room: int, outsiders: int) -> None:
        """Give places to witnesses that the family still lacks: those that need none first."""
        mine = {witness.id for witness in witnessed.witnesses}
        lacking = witnessed.attainable - sum(chunk_id in mine for chunk_id in self.taken)
        for chunk_id in self.taken:
            if chunk_id in mine:
                self.taken[chunk_id].append(witnessed.family.name)
        for witness in sorted(witnessed.witnesses, key=lambda each: each.id not in self.top):
            if lacking <= 0 or len(self.taken) >= room:
                return
            outside = witness.id not in self.top
            if witness.id in self.taken or (outside and self.outsiders >= outsiders):
                continue
            self.taken[witness.id] = [witnessed.family.name]
            lacking -= 1

    @property
    def outsiders(self) -> int:
        """How many places were taken from better chunks."""
        return sum(chunk_id not in self.top for chunk_id in self.taken)


def reserve(
    ranking: Sequence[Candidate],
    families: Sequence[WitnessedFamily],
    places: Places,
    lead_ins: Mapping[ChunkId, ChunkId] | None = None,
) -> Reservation:
    """Choose from the ranking so that every required family has the witnesses that there are.

    The witnesses of the families must be in the ranking. ``lead_ins`` names for a chunk the
    one without which it says nothing; it gets a place beside a reserved chunk while there are
    places that no family needs. Where required families need more places than are wanted there
    are more; where they need more than may be, nothing is reserved and ``refused`` says so.
    """
    seats = _Seats(top=frozenset(candidate.id for candidate in ranking[: places.wanted]))
    required = [each for each in families if each.family.required]
    for witnessed in _scarcest_first(required):
        seats.seat(witnessed, len(ranking), len(ranking))
    number = max(places.wanted, len(seats.taken))
    if number > places.most:
        return Reservation(kept=tuple(ranking[: places.wanted]), places=places.wanted, refused=True)
    outsiders = seats.outsiders + int(OPTIONAL_SHARE * number)
    for witnessed in _scarcest_first([each for each in families if not each.family.required]):
        seats.seat(witnessed, number, outsiders)
    return _fill(ranking, seats, number, lead_ins or {})


def _scarcest_first(families: Sequence[WitnessedFamily]) -> list[WitnessedFamily]:
    return sorted(families, key=lambda each: len(each.witnesses))


def _fill(
    ranking: Sequence[Candidate],
    seats: _Seats,
    number: int,
    lead_ins: Mapping[ChunkId, ChunkId],
) -> Reservation:
    known = {candidate.id for candidate in ranking}
    kept = set(seats.taken)
    for chunk_id in seats.taken:
        lead_in = lead_ins.get(chunk_id)
        if lead_in in known and len(kept) < number:
            kept.add(lead_in)
    for candidate in ranking:
        if len(kept) >= number:
            break
        kept.add(candidate.id)
    return Reservation(
        kept=tuple(candidate for candidate in ranking if candidate.id in kept),
        reserved={chunk_id: tuple(names) for chunk_id, names in seats.taken.items()},
        brought_in=tuple(candidate.id for candidate in ranking if candidate.id in kept - seats.top),
        places=number,
    )
