from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.retrieval.evidence.patterns import (
    path_subject,
    read_expression,
    read_glob,
    read_phrase,
    text_subject,
)


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("pod", "Which Pods are there?", False),
        ("pod", "Is the POD ready?", True),
        ("service account", "the service-account, then", True),
        ("service account", "service of an account", False),
        ("STRASSE", "die Straße", True),
        ("服务账户", "什么是服务账户?", True),
        ("café", "a cafe\u0301 in Paris", True),
        ("pod", "po\nd", False),
    ],
)
def test_a_phrase_is_compared_as_whole_words_without_case(
    phrase: str, text: str, expected: bool
) -> None:
    assert read_phrase(phrase).matches(text_subject(text)) is expected


@pytest.mark.parametrize("text", ["", " ", "!!", "\u200b"])
def test_a_phrase_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="holds no word"):
        read_phrase(text)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("guides/*.md", "guides/a.md", True),
        ("guides/*.md", "guides/b/a.md", False),
        ("**/secret*.md", "secret-a.md", True),
        ("**/secret*.md", "a/b/secret.md", True),
        ("a [x].md", "a [x].md", True),
        ("a  b.md", "a  b.md", True),
        ("Guides/*", "guides/a", False),
    ],
)
def test_a_glob_matches_the_whole_path(glob: str, path: str, expected: bool) -> None:
    assert read_glob(glob).matches(path_subject(path)) is expected


@pytest.mark.parametrize("glob", ["", " ", "/etc/*", "./a.md", "../a.md"])
def test_a_glob_that_can_match_no_path_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match=r"empty|relative"):
        read_glob(glob)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(", "missing"),
        ("(?=a)", "invalid perl operator"),
        (r"(a)\1", "invalid escape"),
        ("x{1001}", "invalid repetition"),
        ("((a{1,100}){1,100}){1,100}", "invalid repetition"),
        (r"(?:\pL{1,900}){1,900}", "repetition|too large"),
        ("", "empty"),
        ("x" * 1001, "1001 characters"),
        (r"[^\x00-\x{10ffff}]", "can match nothing"),
        ("\udcff", "surrogates"),
    ],
)
def test_an_expression_that_cannot_be_run_safely_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_expression(expression)


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)+$", "(.*a){30}", "(x+x+)+y"])
def test_an_expression_that_hangs_other_engines_takes_linear_time(expression: str) -> None:
    pattern = read_expression(expression)
    subject = text_subject("a" * 4000 + "!")
    began = process_time()
    pattern.matches(subject)
    assert process_time() - began < 1


def test_a_glob_of_many_stars_takes_linear_time() -> None:
    pattern = read_glob("*a" * 60 + "b")
    began = process_time()
    assert not pattern.matches(path_subject("a" * 4000))
    assert process_time() - began < 1


def test_an_expression_ignores_case_and_spans_the_folded_text() -> None:
    assert read_expression("service.account").matches(text_subject("a Service\n  Account"))


def test_an_expression_content_with_nothing_is_known() -> None:
    assert read_expression("a*").matches_everything()
    assert not read_expression("a+").matches_everything()


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=50))
def test_no_text_breaks_a_pattern(text: str, phrase: str) -> None:
    subject = text_subject(text)
    read_expression(r"\bpod\b").matches(subject)
    read_glob("**/*.md").matches(path_subject(text))
    try:
        pattern = read_phrase(phrase)
    except ValueError:
        return
    assert pattern.matches(text_subject(f"{text} {phrase} {text}"))
