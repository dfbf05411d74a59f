from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.details import Grade
from llmwiki.retrieval.evidence.grading import FamilyGrade
from llmwiki.retrieval.evidence.restoring import Restored, restore
from tests.retrieval.evidence.candidates import candidate
from tests.retrieval.evidence.test_reservation import Owing

RANKING = tuple(candidate(number) for number in range(1, 10))


def of(*numbers: int) -> tuple[Candidate, ...]:
    return tuple(RANKING[number - 1] for number in numbers)


def graded(name: str, *witnesses: int, grade: Grade = "ok", required: bool = True) -> FamilyGrade:
    return FamilyGrade(
        family=Owing(name, required=required),
        grade=grade,
        witness=of(*witnesses)[0] if witnesses else None,
        score=None,
        validated=frozenset(map(ChunkId, witnesses if grade != "missing" else ())),
    )


def restored(
    kept: Sequence[int],
    *grades: FamilyGrade,
    reserved: Mapping[ChunkId, Sequence[str]] | None = None,
) -> Restored:
    return restore(of(*kept), RANKING, grades, reserved or {})


def numbers(result: Restored) -> list[int]:
    return [each.id for each in result.kept]


def test_a_lost_witness_takes_the_place_of_the_lowest_that_nobody_needs() -> None:
    result = restored([1, 2, 3], graded("a", 7), graded("b", 3))
    assert numbers(result) == [1, 3, 7]
    assert result.restored == (7,)
    assert result.missing == ()


def test_where_all_are_needed_it_is_added() -> None:
    assert numbers(restored([1, 2], graded("a", 1), graded("b", 2), graded("c", 9))) == [1, 2, 9]


def test_another_witness_that_may_speak_is_enough() -> None:
    result = restored([1, 2], graded("a", 7, 2))
    assert (numbers(result), result.restored) == ([1, 2], ())


def test_a_witness_that_is_not_validated_stays_out_and_its_family_is_missing() -> None:
    result = restored([1, 2], graded("a", 7, grade="missing"), graded("b"))
    assert (numbers(result), result.missing) == ([1, 2], ("a", "b"))


def test_an_ambiguous_witness_comes_back() -> None:
    assert numbers(restored([1, 2], graded("a", 7, grade="ambiguous"))) == [1, 7]


def test_what_is_not_required_is_neither_restored_nor_missing() -> None:
    result = restored([1, 2], graded("a", 7, required=False), graded("b", required=False))
    assert (numbers(result), result.missing) == ([1, 2], ())


def test_a_better_witness_takes_the_place_of_the_one_that_failed() -> None:
    reserved = {ChunkId(2): ("a",), ChunkId(3): ("b",)}
    assert numbers(restored([1, 2, 3], graded("a", 5), reserved=reserved)) == [1, 3, 5]


@settings(deadline=None)
@given(
    st.sets(st.integers(1, 9), max_size=6),
    st.lists(
        st.tuples(
            st.lists(st.integers(1, 9), unique=True, max_size=3),
            st.sampled_from(["ok", "ambiguous", "missing"]),
            st.booleans(),
        ),
        max_size=4,
    ),
)
def test_what_every_restoring_keeps(
    kept: set[int], families: list[tuple[list[int], Grade, bool]]
) -> None:
    grades = [
        graded(str(number), *witnesses, grade=grade if witnesses else "missing", required=required)
        for number, (witnesses, grade, required) in enumerate(families)
    ]
    result = restored(sorted(kept), *grades)
    inside = set(numbers(result))
    assert numbers(result) == sorted(inside)
    assert inside <= kept | set(result.restored)
    for each in grades:
        if each.family.required and each.is_validated:
            assert inside & each.validated
        if each.family.required and not each.is_validated:
            assert each.family.name in result.missing
    assert restore(result.kept, RANKING, grades, {}).kept == result.kept
