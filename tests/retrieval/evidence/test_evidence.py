from dataclasses import replace

import pytest

from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.authority import read_constraint
from llmwiki.retrieval.evidence.evidence import Evidence
from llmwiki.retrieval.evidence.patterns import read_glob
from llmwiki.retrieval.evidence.plans import FamilyMatch, Place, PlannedFamily
from tests.retrieval.evidence.candidates import candidate

TIERS = ("official", "approved", "community")
FAMILY = PlannedFamily(
    name="f",
    plan="p",
    match=FamilyMatch(source=(read_glob("in/*.md"),)),
    rescue=None,
    authority="approved",
    version=read_constraint(">=1"),
    min=1,
    required=True,
    place=Place("plans/p.yaml", 1),
)


def member(
    number: int, score: float, *, tier: str | None = "approved", version: str | None = "1.0"
) -> Candidate:
    return candidate(
        number,
        score,
        document_path=f"in/{number}.md",
        authority_tier=tier,
        version=version,
    )


def evidence(*candidates: Candidate, scores: dict[int, float] | None = None) -> Evidence:
    own = {ChunkId(number): score for number, score in (scores or {}).items()}
    return Evidence(
        question="q",
        collections=(),
        families=(FAMILY,),
        candidates=candidates,
        tiers=TIERS,
        witness_scores={0: own} if own else {},
    )


def order(of: Evidence) -> list[int]:
    return [each.id for each in of.witnesses(0, of.candidates)]


def test_witnesses_are_members_with_authority_and_version() -> None:
    outside = candidate(9, 5.0, authority_tier="official", version="2")
    of = evidence(
        member(1, 3, tier="community"),
        member(2, 2, tier=None),
        member(3, 1, version="0.9"),
        member(4, 0, version=None),
        member(5, -1),
        member(6, -2, tier="official"),
        outside,
    )
    assert order(of) == [5, 6]


def test_the_best_in_the_ranking_comes_first() -> None:
    assert order(evidence(member(1, 0), member(2, 2), member(3, 1))) == [2, 3, 1]


def test_authority_and_then_version_decide_between_equals_and_nowhere_else() -> None:
    of = evidence(
        member(1, 1.0, version="1.9"),
        member(2, 1.0, version="1.10"),
        member(3, 1.0, tier="official"),
        member(4, 2.0),
        member(5, -2.0, tier="official", version="9"),
    )
    assert order(of) == [4, 3, 2, 1, 5]


def test_a_rescued_family_has_an_order_of_its_own() -> None:
    of = evidence(member(1, 0), member(2, 2), scores={1: 3.0, 2: -1.0})
    assert order(of) == [1, 2]


def test_the_order_of_a_reranker_stands_above_it() -> None:
    reranked = replace(member(2, 2), score=9.0)
    of = evidence(reranked, replace(member(1, 0), score=1.0), scores={1: 3.0, 2: -1.0})
    assert order(of) == [2, 1]


@pytest.mark.parametrize("scores", [{}, {1: 1.0}])
def test_an_own_order_that_does_not_know_all_is_not_used(scores: dict[int, float]) -> None:
    assert order(evidence(member(1, 0), member(2, 2), scores=scores)) == [2, 1]
