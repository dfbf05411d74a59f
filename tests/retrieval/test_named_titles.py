from dataclasses import replace

import pytest

from llmwiki.config import RetrievalSettings
from llmwiki.domain import DocumentId
from llmwiki.providers.clock import SystemClock
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.named_titles import (
    LONGEST_TITLE,
    follow_titles,
    named_in_best,
    named_in_question,
    without_brackets,
)
from tests.retrieval.test_assembly import candidate, chunk


def titled(key: int, title: str, score: float, text: str = "text") -> Candidate:
    of = replace(
        chunk(key, document=key), document_title=title, document_id=DocumentId(key), text=text
    )
    return candidate(of, score)


POOL = (
    titled(1, "Flow meters", 1.0, "A meter is read by the Base Station, see Valves."),
    titled(2, "Valve", 0.9),
    titled(3, "Base Station", 0.2),
    titled(4, "Alarms (mail)", 0.1),
    titled(5, "V", 0.0),
)


def order(question: str, **settings: object) -> list[int]:
    trace = Trace(SystemClock())
    ranked = follow_titles(question, POOL, RetrievalSettings.model_validate(settings), trace)
    return [each.id for each in ranked]


def test_a_title_in_the_question_counts_whatever_its_case_and_brackets() -> None:
    assert set(named_in_question("where do alarms go?", POOL)) == {4}
    assert set(named_in_question("the V BASE station", POOL)) == {3}
    assert named_in_question("valves and alarmsystem", POOL) == {}


def test_the_best_chunk_leads_to_the_documents_that_it_names_as_written() -> None:
    assert set(named_in_best(POOL)) == {3}
    assert named_in_best([titled(1, "Own", 1.0, "Own text")]) == {}
    assert named_in_best([]) == {}


def test_named_documents_rise_by_their_weight() -> None:
    assert order("how is it read?") == [3, 1, 2, 4, 5]
    assert order("where do alarms go?") == [3, 1, 2, 4, 5]
    assert order("where do alarms go?", titles={"in_best_chunk": 0}) == [1, 2, 4, 3, 5]
    assert order("how?", titles={"in_question": 0, "in_best_chunk": 0}) == [1, 2, 3, 4, 5]


def test_other_scales_than_standard_scores_are_left_alone() -> None:
    assert order("where do alarms go?", fusion="rrf") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("Mercury (planet)", "Mercury"),
        ("Mercury [planet] ", "Mercury"),
        ("Mercury (planet) (draft)", "Mercury (planet)"),
        ("Mercury (a [b)", "Mercury"),
        ("(planet)", ""),
        ("Mercury (planet) is near", "Mercury (planet) is near"),
        ("Mercury)", "Mercury)"),
        ("f()", "f"),
        ("", ""),
    ],
)
def test_what_stands_in_brackets_at_the_end_is_no_part_of_a_name(title: str, bare: str) -> None:
    assert without_brackets(title) == bare


@pytest.mark.parametrize("part", ["(", " ", "\u00a0", "()", "[", "word "])
def test_a_title_without_end_takes_no_time_and_names_nothing(part: str) -> None:
    title = "x" + part * 500_000 + "x"
    assert without_brackets(title) == title
    assert named_in_question(title, [titled(1, title, 1.0)]) == {}
    longest = "y" * LONGEST_TITLE
    assert set(named_in_question(f"what is {longest}?", [titled(1, longest, 1.0)])) == {1}
