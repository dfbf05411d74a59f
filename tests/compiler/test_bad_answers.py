from pathlib import Path

import pytest

from llmwiki.compiler.answer import read_answer
from llmwiki.domain import PageDraft, Statement, TopicId
from llmwiki.grounding.gate import GateLimits, GateVerdict, check_draft
from tests.compiler.bad_answer import GOOD, PACK, READ, BadAnswer, Outcome
from tests.compiler.bad_answers import BAD_ANSWERS, MEANINGS, document

DOCUMENT = Path(__file__).parents[2] / "docs" / "bad-answers.md"
FIRST = TopicId(1)


def verdict_of(case: BadAnswer) -> GateVerdict:
    parsed = read_answer(case.answer, case.pack)
    if FIRST in parsed.problems:
        return GateVerdict(draft=None, refusal=parsed.problems[FIRST])
    return check_draft(
        parsed.drafts[FIRST],
        case.pack[0],
        previous_length=case.previous_length,
        limits=GateLimits(),
    )


def effect(verdict: GateVerdict) -> tuple[Outcome, str]:
    if verdict.refusal is not None:
        return "refused", verdict.refusal.split(":")[0]
    if verdict.dropped:
        return "dropped", verdict.dropped[0].reason
    return "repaired", verdict.repairs[0] if verdict.repairs else READ


def good_page() -> PageDraft:
    return read_answer(GOOD, PACK).drafts[FIRST]


def statements(draft: PageDraft) -> list[Statement]:
    return [statement for section in draft.sections for statement in section.statements]


@pytest.mark.parametrize("case", BAD_ANSWERS, ids=lambda case: case.name)
def test_a_bad_answer_does_no_harm(case: BadAnswer) -> None:
    verdict = verdict_of(case)

    assert effect(verdict) == (case.outcome, case.code)
    if verdict.draft is not None and case.pack is PACK:
        assert statements(verdict.draft) == statements(good_page())
    if case.code == READ:
        assert verdict.draft == good_page()


@pytest.mark.parametrize("case", BAD_ANSWERS, ids=lambda case: case.name)
def test_a_bad_page_does_not_touch_the_page_beside_it(case: BadAnswer) -> None:
    parsed = read_answer(case.answer, case.pack)
    if TopicId(2) in parsed.drafts:
        assert parsed.drafts[TopicId(2)] == read_answer(GOOD, PACK).drafts[TopicId(2)]


def test_the_good_answer_passes_untouched() -> None:
    verdict = check_draft(good_page(), PACK[0], previous_length=600, limits=GateLimits())

    assert verdict == GateVerdict(draft=good_page())


def test_there_are_enough_kinds_and_every_reason_has_one() -> None:
    assert len(BAD_ANSWERS) >= 60
    assert len({case.name for case in BAD_ANSWERS}) == len(BAD_ANSWERS)
    # An unknown citation never leaves the reader, and a thin page needs large sources:
    # both are in test_gate.py.
    assert set(MEANINGS) - {case.code for case in BAD_ANSWERS} == {"unknown-citation", "thin"}


def test_the_documentation_is_current() -> None:
    remedy = "python -m tests.compiler.bad_answers > docs/bad-answers.md"
    assert DOCUMENT.read_text(encoding="utf-8") == document(), remedy
