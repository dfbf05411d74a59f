import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.compiler.answer import PROBLEMS, ParsedAnswer, read_answer
from llmwiki.domain import PageDraft, TopicId
from tests.compiler.samples import chunk, topic_sources

RELAY = topic_sources(1, "Relay", chunk(11, "The relay listens."), chunk(12, "It stops at night."))
VALVE = topic_sources(2, "Valve", chunk(21, "A valve opens slowly."))
PACK = [RELAY, VALVE]


def page(topic: object = "t1", sources: object = ("c1",), **changes: object) -> dict[str, Any]:
    statement = {"text": "The relay listens.", "kind": "prose", "sources": sources}
    whole: dict[str, Any] = {
        "topic": topic,
        "title": "Relay",
        "tldr": {"text": "The relay listens.", "sources": sources},
        "tags": ["relay"],
        "sections": [{"heading": "Use", "statements": [statement]}],
    }
    return {**whole, **changes}


VALVE_PAGE = page("t2", ["c3"])


def read(*pages: object) -> ParsedAnswer:
    return read_answer(json.dumps({"pages": pages}), PACK)


def cited(parsed: ParsedAnswer, topic: int = 1) -> list[int]:
    draft = parsed.drafts[TopicId(topic)]
    return [
        number
        for section in draft.sections
        for statement in section.statements
        for number in statement.chunk_ids
    ]


def codes(parsed: ParsedAnswer) -> dict[int, str]:
    return {topic: problem.split(":")[0] for topic, problem in parsed.problems.items()}


def only_statement(value: object) -> tuple[str, str, tuple[int, ...]]:
    parsed = read(page(sections=[{"heading": "", "statements": [value]}]))
    (statement,) = parsed.drafts[TopicId(1)].sections[0].statements
    return statement.text, statement.kind, statement.chunk_ids


GOOD = json.dumps({"pages": [page(), VALVE_PAGE]})


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff" + GOOD,
        "Sure, here are the pages:\n\n" + GOOD,
        f"```json\n{GOOD}\n```",
        f"{GOOD}\n\nLet me know if you need more.",
        json.dumps([page(), VALVE_PAGE]),
        json.dumps(page()) + "\n" + json.dumps(VALVE_PAGE),
        '<think>Maybe {"pages": [{"topic": "t1", "title": "Draft"}]}?</think>' + GOOD,
        GOOD + ' As asked: {"pages": []}',
        json.dumps({"pages": [page("T1"), page(" [t2] ", ["c3"])]}),
        json.dumps({"pages": [page(1), page(2, ["c3"])]}),
        json.dumps({"pages": [page(), page(), VALVE_PAGE]}),
        json.dumps({"pages": [page("t9"), None, 3, "x", page(), VALVE_PAGE]}),
        json.dumps({"model": "x", "pages": [page(), VALVE_PAGE], "usage": {}}, indent=2),
    ],
)
def test_what_surrounds_the_pages_does_not_matter(text: str) -> None:
    parsed = read_answer(text, PACK)

    assert parsed == read_answer(GOOD, PACK)
    assert set(parsed.drafts) == {1, 2}
    assert not parsed.truncated


@pytest.mark.parametrize(
    "sources",
    [
        ["c1", "c2"],
        "c1, c2",
        ["c1, c2"],
        ["[c1]", "(c2)"],
        ["C1", "c02"],
        [1, 2],
        "[1, 2]",
        "c1 c2",
    ],
)
def test_citations_are_read_in_the_forms_that_models_use(sources: object) -> None:
    assert cited(read(page(sources=sources))) == [11, 12]


@pytest.mark.parametrize(
    "sources", [["c99"], ["c3"], [], None, {"c1": 1}, [None, True, 1.5], "abc1", ["chunk 1"], [-1]]
)
def test_labels_that_are_none_of_the_topic_are_dropped(sources: object) -> None:
    whole = page()
    whole["sections"][0]["statements"].append({"text": "It.", "kind": "prose", "sources": sources})

    assert cited(read(whole)) == [11]


@pytest.mark.parametrize("end", range(len(GOOD) - 4, 100, -37))
def test_whole_pages_of_a_truncated_answer_are_kept(end: int) -> None:
    parsed = read_answer(GOOD[:end], PACK)

    first_ends = len('{"pages": [' + json.dumps(page()))
    assert set(parsed.drafts) == ({1} if end >= first_ends else set())
    assert codes(parsed) == dict.fromkeys((2,) if end >= first_ends else (1, 2), "truncated")
    assert parsed.truncated


def test_a_page_in_the_middle_that_is_no_json_costs_only_itself() -> None:
    broken = json.dumps(page()).replace('"title": "Relay"', '"title": "Re"lay"')

    parsed = read_answer('{"pages": [' + broken + "," + json.dumps(VALVE_PAGE) + "]}", PACK)

    assert set(parsed.drafts) == {2}
    assert codes(parsed) == {1: "unreadable"}
    assert not parsed.truncated


@pytest.mark.parametrize(
    ("pages", "code"),
    [
        ([page(), page(title="Other")], "answered-twice"),
        ([page(sources=["c3"])], "swapped"),
        ([page(sections=None)], "malformed"),
        ([page(sections=["text"])], "malformed"),
        ([page(sections=[{"heading": "x", "statements": {}}])], "malformed"),
        ([page("t7")], "not-answered"),
        ([], "not-answered"),
    ],
)
def test_a_topic_without_a_draft_has_a_problem(pages: list[Any], code: str) -> None:
    parsed = read(*pages, VALVE_PAGE)

    assert set(parsed.drafts) == {2}
    assert parsed.problems == {1: f"{code}: {PROBLEMS[code]}"}


@pytest.mark.parametrize("text", ["", "I cannot do that.", "<html>Bad gateway</html>", "null"])
def test_an_answer_without_pages_is_a_problem_for_each_topic(text: str) -> None:
    parsed = read_answer(text, PACK)

    assert codes(parsed) == {1: "no-pages", 2: "no-pages"}
    assert not parsed.truncated


def test_a_key_given_twice_leaves_no_page() -> None:
    twice = json.dumps(page()).replace('"title":', '"title": "Two", "title":')

    assert codes(read_answer('{"pages": [' + twice + "]}", PACK))[1] == "not-answered"


@pytest.mark.parametrize("value", [None, "text", 5, [], {}, {"text": 7, "kind": None}])
def test_what_is_no_statement_becomes_an_empty_one(value: object) -> None:
    assert only_statement(value) == ("", "prose", ())


@pytest.mark.parametrize(
    ("text", "declared", "expected", "kind"),
    [
        ("It runs.", None, "It runs.", "prose"),
        ("It runs.", "paragraph", "It runs.", "prose"),
        ("run()", "Code", "```\nrun()\n```", "code"),
        ("```py\nrun()\n```", "prose", "```py\nrun()\n```", "code"),
        ("```py\nrun()", "code", "```py\nrun()\n```", "code"),
        ("a\n```\nb", "code", "````\na\n```\nb\n````", "code"),
        ("| a |\n|---|\n| 1 |", "prose", "| a |\n|---|\n| 1 |", "table"),
        ("no table", "table", "no table", "table"),
        ("It runs [c1].", "prose", "It runs.", "prose"),
        ("It runs (c1, c2), always.", "prose", "It runs, always.", "prose"),
        ("It runs [c3].", "prose", "It runs [c3].", "prose"),
        ("a\x00b\ud800c\r\nd", "prose", "abc\nd", "prose"),
    ],
)
def test_kind_fence_markers_and_characters_are_put_right(
    text: str, declared: object, expected: str, kind: str
) -> None:
    value = {"text": text, "kind": declared, "sources": ["c1"]}

    assert only_statement(value)[:2] == (expected, kind)


def test_a_citation_inside_the_text_counts() -> None:
    value = {"text": "It stops at night [c2].", "kind": "prose", "sources": []}

    assert only_statement(value) == ("It stops at night.", "prose", (12,))


def test_numbers_that_are_none_are_read_as_nothing() -> None:
    text = json.dumps({"pages": [page(tags=[float("nan"), 10**30, "tag", None])]})

    assert read_answer(text, PACK).drafts[TopicId(1)].tags == ("tag",)


@pytest.mark.parametrize(
    "text",
    [
        '{"pages": ' + "[" * 200_000,
        '{"pages": [' + '{"topic":' * 100_000,
        '{"pages": [{"topic": "t1", "title": ' + "9" * 100_000 + "}]}",
        '{"pages": [{"topic": "t1", "title": "' + "x" * 5_000_000,
        '{"pages": [' + " " * 1_000_000,
        '"pages": [' * 100_000,
        json.dumps({"pages": [page(sources=" " * 1_000_000, title="\n" * 1_000_000)]}),
        json.dumps({"pages": [page()] * 5000}),
    ],
)
def test_hostile_answers_are_read_in_no_time(text: str) -> None:
    started = time.perf_counter()

    read_answer(text, PACK)

    assert time.perf_counter() - started < 5


KEYS = [
    "pages",
    "topic",
    "title",
    "tldr",
    "tags",
    "sections",
    "heading",
    "statements",
    "text",
    "kind",
    "sources",
    "other",
]
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["t1", "t2", "c1", "c3", "prose", "```", "| a |"]),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            children,
            max_size=6,
        )
    ),
    max_leaves=30,
)
FRAGMENTS = st.lists(
    st.sampled_from(['{"pages":[', '{"topic":"t1"', ",", "]", "}", '"', "\\", "```", "\x00", ":"])
    | st.text(max_size=5)
    | JSON_VALUES.map(json.dumps),
    max_size=12,
).map("".join)


def assert_sound(parsed: ParsedAnswer) -> None:
    assert set(parsed.drafts) | set(parsed.problems) == {1, 2}
    assert not set(parsed.drafts) & set(parsed.problems)
    allowed = {1: {11, 12}, 2: {21}}
    for topic, draft in parsed.drafts.items():
        assert isinstance(draft, PageDraft)
        assert set(cited(parsed, topic)) <= allowed[topic]


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON_VALUES, max_size=3), st.integers(0, 400))
def test_any_json_is_read_without_an_error(pages: list[Any], end: int) -> None:
    text = json.dumps({"pages": pages})

    assert_sound(read_answer(text, PACK))
    assert_sound(read_answer(text[:end], PACK))


@settings(max_examples=150, deadline=None)
@given(FRAGMENTS)
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert_sound(read_answer(text, PACK))
