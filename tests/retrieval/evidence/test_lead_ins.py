import pytest

from llmwiki.retrieval.evidence.lead_ins import needs_lead_in
from tests.retrieval.evidence.candidates import chunk


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("Run these commands:\n", "```\nmake\n```", True),
        ("\u6b65\u9aa4\uff1a", "make", True),
        ("The pump stops when", "the valve is open.", True),
        ("- one\n- two", "- three", True),
        ("1. one\n2. two", "3. three", True),
        ("| a |\n| 1 |", "| a |\n| 2 |", True),
        ("```c\none\n```", "```c\ntwo\n```", True),
        ("A sentence ends here.", "Another one begins.", False),
        ("A sentence ends here.", "- an item", False),
        ("- an item", "A sentence.", False),
        ("", "", False),
    ],
)
def test_a_chunk_needs_the_one_before_where_the_cut_goes_through_something(
    before: str, text: str, expected: bool
) -> None:
    assert needs_lead_in(chunk(2, text=text), chunk(1, text=before)) is expected
