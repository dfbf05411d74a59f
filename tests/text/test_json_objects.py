import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.text.json_objects import objects_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Sure: ```json\n{"a": {"b": 1}}\n```', [{"a": {"b": 1}}]),
        ('{"draft": 1} and then {"a": 2}', [{"a": 2}, {"draft": 1}]),
        ('{not json} {"a": 1}', [{"a": 1}]),
        ('{"cut": ', []),
        ("[1, 2]", []),
        ("{" * 5_000, []),
    ],
)
def test_objects_are_found_the_last_first(text: str, found: list[object]) -> None:
    assert objects_in(text) == found


@given(st.text(alphabet='{}[]":,a1 ', max_size=200))
def test_no_text_is_too_broken(text: str) -> None:
    assert all(isinstance(each, dict) for each in objects_in(text))
