import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from llmwiki.grounding.support import unsupported_details

SOURCE = (
    "The server listens on port 8080 and keeps 1,000 jobs; 12.5% of them wait.\n"
    "Set `--max-retries` or MAX_SIZE, see os.path.join() and release v3.11.2 of 2010.\n"
    "Details: (https://docs.example.org/guide_(old)/limits?x=1). Error E0308 is fatal, sha256 "
    "too, and 0.50 is not half of 5 percent."
)


@pytest.mark.parametrize(
    "statement",
    [
        "Port 8080 is where it listens.",
        "It keeps 1000 jobs.",
        "It keeps 1\u00a0000 jobs, or 1'000, or 1_000.",
        "A share of 12.5 % waits; later 5% do.",
        "A share of 12.5 percent waits.",
        "Retries are set by --MAX-RETRIES and max_size.",
        "Join with os.path.join, part of os.path.",
        "Since 3.11.2 it works (V3.11.2).",
        "See https://docs.example.org/guide_(old)/limits?x=1, please.",
        "See [this](https://docs.example.org/guide_(old)/limits?x=1).",
        "It is .50 then, not x.5 percent.",
        "Error e0308, hash SHA 256.",
        "1. It listens.\n2) It waits.",
        "On the 3rd try, e.g. after a.m., it _really_ stops.",
        "No details at all.",
        "",
    ],
)
def test_what_a_source_says_in_other_words_is_supported(statement: str) -> None:
    assert unsupported_details(statement, [SOURCE]) == ()


@pytest.mark.parametrize(
    ("statement", "details"),
    [
        ("It keeps 10 jobs.", ("10",)),
        ("It keeps 2 jobs, then 000.", ("2", "000")),
        ("It keeps 10,000 jobs.", ("10000",)),
        ("A share of 12.5 waits.", ("12.5",)),
        ("Port 8080% is used.", ("8080%",)),
        ("It is 0.5 then.", ("0.5",)),
        ("It is .5 then.", ("0.5",)),
        ("Since 3.11 it works.", ("3.11",)),
        ("Since v3.11.20 it works.", ("3.11.20",)),
        ("Set --max.", ("--max",)),
        ("Set --max-retries-now.", ("--max-retries-now",)),
        ("Set max_sized.", ("max_sized",)),
        ("Call os.pat now.", ("os.pat",)),
        ("Error E0309 is fatal.", ("e0309",)),
        ("The hash is sha512.", ("512",)),
        ("See https://docs.example.org/guide_(old)/.", ("https://docs.example.org/guide_(old)",)),
        ("See HTTPS://example.com/v9/a_b.", ("HTTPS://example.com/v9/a_b",)),
        ("8081 is used, 8081 indeed.", ("8081",)),
    ],
)
def test_a_detail_that_no_source_has_is_named(statement: str, details: tuple[str, ...]) -> None:
    assert unsupported_details(statement, [SOURCE]) == details


def test_a_statement_may_draw_on_several_sources() -> None:
    assert unsupported_details("Port 80 and 443.", ["port 80", "port 443"]) == ()
    assert unsupported_details("Port 80.", []) == ("80",)


def test_a_verbatim_piece_must_begin_and_end_where_words_do() -> None:
    assert unsupported_details("10 files", ["2010 files"]) == ("10",)
    assert unsupported_details("of 10", ["of 100"]) == ("10",)
    assert unsupported_details("of 10", ["of 10.5"]) == ("10",)
    assert unsupported_details("of 10", ["of 10%"]) == ("10",)


def test_the_verbatim_piece_may_be_a_later_occurrence() -> None:
    assert unsupported_details("7", ["77 of 7 %"]) == ()


def test_emphasis_is_no_part_of_a_name() -> None:
    assert unsupported_details("Then use _os.path_ now.", ["Use os.path."]) == ()
    assert unsupported_details("Then use os.path.", ["Use _os.path_ now."]) == ()


def test_an_option_supports_its_name_but_a_longer_option_does_not() -> None:
    assert unsupported_details("max_size", ["--max_size=1"]) == ()
    assert unsupported_details("-verbose", ["--verbose"]) == ("-verbose",)


_WORDS = st.sampled_from(
    [
        *("the", "of", "page", "holds", "naïve", "数字", "C++", "...", ",", "%", "e.g.", "**2**"),
        *("_x_", "snake_case", "a.b.c", "call()", "--flag", "-v", "v1.2", "E0308", "x1_000"),
        *("1,000", "12.5%", "7", "3rd", "2010", "1'000", ".5", "100,200", "10MB", "[1]"),
        *("https://a.example/b_(c)?d=1,", "(https://a.example/)"),
    ]
)
_SOURCES = st.lists(_WORDS, min_size=1, max_size=60)


@given(words=_SOURCES, data=st.data())
def test_a_run_of_a_source_s_words_is_always_supported(
    words: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    blank = data.draw(st.sampled_from([" ", "\n", "  \n\t"]))
    assert unsupported_details(blank.join(words[start:end]), ["other", " ".join(words)]) == ()


_NUMBERS = st.integers(0, 10**7).map(str) | st.decimals(0, 10**4, places=2).map(str)


@given(numbers=st.lists(_NUMBERS, min_size=1, max_size=8), other=_NUMBERS, data=st.data())
def test_a_number_that_was_altered_is_always_named(
    numbers: list[str], other: str, data: st.DataObject
) -> None:
    assume(other not in numbers)
    place = data.draw(st.integers(0, len(numbers) - 1))
    altered = [*numbers[:place], other, *numbers[place + 1 :]]
    source = " items and ".join(["It has", *numbers, "in all"])
    statement = " items and ".join(["It has", *altered, "in all"])
    assert unsupported_details(statement, [source]) == (other,)


@pytest.mark.parametrize(
    "piece",
    ["1", "1,000", "1.", "a_", "_a ", "a.", "Aa", "))", "https://", "https://a)", "- ", " "],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    hostile = piece * (400_000 // len(piece)) + "x!"
    started = time.process_time()
    unsupported_details(hostile, ["a source of 1 line", hostile[1:-2]])
    assert time.process_time() - started < 15
