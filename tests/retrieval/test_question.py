import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.errors import UsageError
from llmwiki.retrieval.question import LONGEST_QUESTION, check_question, find_route, is_broad_query


@pytest.mark.parametrize(
    "question",
    [
        "how do I use v10r?",
        "What is v10r?",
        "getting started",
        "What is FastAPI?",
        "How does dependency injection work?",
        "overview of the security features",
        "Tell me about background tasks",
        "what\u2019s a wiki compiler?",
        "Explain drift sweeps",
    ],
)
def test_a_short_and_general_question_is_broad(question: str) -> None:
    assert is_broad_query(question)


@pytest.mark.parametrize(
    "question",
    [
        "what's the default RRF k?",
        "What is the maximum size of a request body?",
        "How do I use OAuth2 scopes with JWT tokens in nested dependencies?",
        "what is max_retries",
        "What does --dry-run do?",
        "hi",
        "Hello there, how are you?",
        "good morning",
        "thanks a lot!",
        "Which port does a probe need?",
        "What is error 404?",
        "Why was the nightly run of Tuesday refused by the provider?",
    ],
)
def test_a_greeting_or_a_particular_is_not_broad(question: str) -> None:
    assert not is_broad_query(question)


def test_an_identifier_decides_the_route() -> None:
    assert find_route("What does --dry-run do?") == "identifier"
    assert find_route("What is drift?") == "broad"
    assert find_route("Who reads the mail of an alert?") == "specific"


@given(st.text(max_size=200))
def test_every_text_has_a_route_or_is_refused(text: str) -> None:
    try:
        asked = check_question(text)
    except UsageError:
        assert not text.replace("\x00", " ").strip()
    else:
        assert find_route(asked) in {"identifier", "broad", "specific"}
        assert asked.encode().decode() == asked


def test_the_longest_question_is_taken_and_no_longer_one() -> None:
    assert len(check_question("w" * LONGEST_QUESTION)) == LONGEST_QUESTION
    with pytest.raises(UsageError, match=str(LONGEST_QUESTION)):
        check_question("w" * (LONGEST_QUESTION + 1))
