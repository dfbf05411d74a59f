from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.reservation import (
    OPTIONAL_SHARE,
    Places,
    Reservation,
    WitnessedFamily,
    reserve,
)
from llmwiki.store.found_chunks import FoundChunk
from tests.retrieval.evidence.candidates import candidate


@dataclass(frozen=True)
class Owing:
    """A family as the reservation sees it."""

    name: str
    min: int = 1
    required: bool = True
    query: str = ""

    def is_member(self, chunk: FoundChunk) -> bool:
        raise AssertionError(chunk)

    def admits(self, chunk: FoundChunk, tiers: Sequence[str]) -> bool:
        raise AssertionError(chunk, tiers)


RANKING = tuple(candidate(number) for number in range(1, 13))


def owed(name: str, *numbers: int, minimum: int = 1, required: bool = True) -> WitnessedFamily:
    return WitnessedFamily(
        family=Owing(name, minimum, required),
        witnesses=tuple(RANKING[number - 1] for number in numbers),
    )


def kept(reservation: Reservation) -> list[int]:
    return [each.id for each in reservation.kept]


def places(wanted: int, most: int = 12) -> Places:
    return Places(wanted=wanted, most=most)


def test_without_families_the_best_are_in() -> None:
    assert kept(reserve(RANKING, [], places(3))) == [1, 2, 3]


def test_a_witness_takes_the_last_place_and_stands_where_it_ranks() -> None:
    reservation = reserve(RANKING, [owed("a", 9)], places(3))
    assert kept(reservation) == [1, 2, 9]
    assert reservation.reserved == {9: ("a",)}
    assert reservation.brought_in == (9,)


def test_a_family_that_is_covered_changes_nothing() -> None:
    reservation = reserve(RANKING, [owed("a", 9, 2)], places(3))
    assert kept(reservation) == [1, 2, 3]
    assert reservation.reserved == {2: ("a",)}
    assert reservation.brought_in == ()


def test_one_chunk_serves_several_families() -> None:
    reservation = reserve(RANKING, [owed("a", 5, 9), owed("b", 9)], places(3))
    assert kept(reservation) == [1, 2, 9]
    assert reservation.reserved == {9: ("b", "a")}


def test_a_family_gets_as_many_witnesses_as_it_owes_and_as_there_are() -> None:
    assert kept(reserve(RANKING, [owed("a", 8, 9, 10, minimum=2)], places(3))) == [1, 8, 9]
    assert kept(reserve(RANKING, [owed("a", 8, minimum=3)], places(3))) == [1, 2, 8]


def test_more_families_than_places_raise_the_number_of_places() -> None:
    families = [owed(str(number), number) for number in (7, 8, 9)]
    reservation = reserve(RANKING, families, places(2))
    assert kept(reservation) == [7, 8, 9]
    assert reservation.places == 3


def test_more_families_than_there_may_be_places_are_refused_and_nothing_is_cut() -> None:
    families = [owed(str(number), number) for number in (7, 8, 9)]
    reservation = reserve(RANKING, families, places(2, most=2))
    assert kept(reservation) == [1, 2]
    assert reservation.refused


def test_an_optional_family_never_raises_and_never_displaces_a_required_witness() -> None:
    families = [owed("a", 8), owed("b", 9), owed("c", 10, required=False)]
    assert kept(reserve(RANKING, families, places(2))) == [8, 9]


def test_optional_families_take_a_share_of_the_places_alone() -> None:
    families = [owed(str(number), number, required=False) for number in (8, 9, 10, 11)]
    reservation = reserve(RANKING, families, places(4))
    assert kept(reservation) == [1, 2, 8, 9]
    assert len(reservation.brought_in) == OPTIONAL_SHARE * 4


def test_what_a_witness_needs_to_be_understood_comes_with_it() -> None:
    lead_ins = {ChunkId(9): ChunkId(12), ChunkId(1): ChunkId(11)}
    assert kept(reserve(RANKING, [owed("a", 9)], places(3), lead_ins)) == [1, 9, 12]


def test_a_lead_in_takes_no_place_from_a_witness() -> None:
    families = [owed("a", 8), owed("b", 9)]
    lead_ins = {ChunkId(8): ChunkId(12)}
    assert kept(reserve(RANKING, families, places(2), lead_ins)) == [8, 9]


def test_nothing_found_is_nothing_kept() -> None:
    assert reserve([], [], places(3)).kept == ()


@st.composite
def _families(draw: st.DrawFn) -> list[WitnessedFamily]:
    count = draw(st.integers(0, 6))
    numbers = st.lists(st.integers(1, 12), unique=True, max_size=5)
    return [
        owed(
            str(place),
            *draw(numbers),
            minimum=draw(st.integers(1, 3)),
            required=draw(st.booleans()),
        )
        for place in range(count)
    ]


@st.composite
def _places(draw: st.DrawFn) -> Places:
    wanted = draw(st.integers(1, 12))
    return places(wanted, most=draw(st.integers(wanted, 14)))


_lead_ins = st.dictionaries(
    st.integers(1, 12).map(ChunkId), st.integers(1, 14).map(ChunkId), max_size=4
)


def _covered(family: WitnessedFamily, chunks: Sequence[Candidate]) -> int:
    ids = {each.id for each in chunks}
    return sum(witness.id in ids for witness in family.witnesses)


@settings(deadline=None)
@given(_families(), _places(), _lead_ins)
def test_what_every_reservation_keeps(
    families: list[WitnessedFamily], wanted: Places, lead_ins: dict[ChunkId, ChunkId]
) -> None:
    reservation = reserve(RANKING, families, wanted, lead_ins)
    top = RANKING[: wanted.wanted]
    # The order is that of the ranking, and each chunk is in once.
    assert kept(reservation) == sorted(set(kept(reservation)))
    # Never fewer than by rank alone, never more than there may be.
    assert len(top) <= len(reservation.kept) <= wanted.most
    assert len(reservation.kept) == min(reservation.places, len(RANKING))
    if reservation.refused:
        assert reservation.kept == top
        return
    # Every required family has the witnesses that there are.
    for family in families:
        if family.family.required:
            assert _covered(family, reservation.kept) >= family.attainable
    # Places were added for required families alone.
    if reservation.places > wanted.wanted:
        assert any(family.family.required for family in families)
        assert all(
            any(each.id in {w.id for w in f.witnesses} for f in families if f.family.required)
            for each in reservation.kept
        )


@settings(deadline=None)
@given(_families(), _places(), _lead_ins)
def test_reserving_again_changes_nothing(
    families: list[WitnessedFamily], wanted: Places, lead_ins: dict[ChunkId, ChunkId]
) -> None:
    first = reserve(RANKING, families, wanted, lead_ins)
    if first.refused:
        return
    ids = {each.id for each in first.kept}
    left = [
        WitnessedFamily(
            family=each.family,
            witnesses=tuple(witness for witness in each.witnesses if witness.id in ids),
        )
        for each in families
    ]
    again = reserve(first.kept, left, places(first.places, most=first.places), lead_ins)
    assert again.kept == first.kept


@settings(deadline=None)
@given(_families(), _places())
def test_the_order_in_which_families_are_named_does_not_decide_coverage(
    families: list[WitnessedFamily], wanted: Places
) -> None:
    one = reserve(RANKING, families, wanted)
    other = reserve(RANKING, list(reversed(families)), wanted)
    if not one.refused and not other.refused:
        for family in families:
            if family.family.required:
                assert _covered(family, one.kept) >= family.attainable
                assert _covered(family, other.kept) >= family.attainable
