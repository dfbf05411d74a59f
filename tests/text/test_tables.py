import pytest

from llmwiki.text.tables import begins_inside_table, header_above

HEADER = "| port | use |\n| --- | --- |"


@pytest.mark.parametrize("text", ["| 1 | a |", "| 1 | a |\n| 2 | b |", "| 1 | a |\n\nText."])
def test_rows_without_a_line_of_hyphens_are_the_middle_of_a_table(text: str) -> None:
    assert begins_inside_table(text)


@pytest.mark.parametrize("text", [HEADER, f"{HEADER}\n| 1 | a |", "Text.\n\n| 1 | a |", "|", ""])
def test_a_header_or_prose_is_no_middle_of_a_table(text: str) -> None:
    assert not begins_inside_table(text)


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("| 2 | b |", f"Ports:\n\n{HEADER}\n| 1 | a |\n| 2 | b |"),
        ("| 2 | b |\n| 3 | c |\n\nText.", f"{HEADER}\n| 1 | a |\n| 2 | b |\n| 3 | c |\n\nText."),
        ("| 1 | a |", f"| other |\n| --- |\n| x |\n\n{HEADER}\n| 1 | a |"),
    ],
)
def test_the_header_is_found_above_the_rows(part: str, whole: str) -> None:
    assert header_above(part, whole) == HEADER


@pytest.mark.parametrize(
    "whole", ["", "Text.", "| 1 | a |", f"{HEADER}\n| 0 | z |\n\n| 1 | a |", HEADER]
)
def test_no_header_is_taken_from_another_table(whole: str) -> None:
    assert header_above("| 1 | a |", whole) == ""


OTHER = "| port | MAXIMUM |\n| --- | --- |"


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("| 2 | b |", f"{HEADER}\n| 2 | b |\n\n{OTHER}\n| 2 | b |"),
        ("| 2 | b |", f"{HEADER}\n| 2 | b | c |\n| 3 | d |"),
    ],
)
def test_rows_that_may_be_of_another_table_get_no_header(part: str, whole: str) -> None:
    assert header_above(part, whole) == ""


def test_rows_that_stand_twice_below_one_header_get_it() -> None:
    assert header_above("| 1 | a |", f"{HEADER}\n| 1 | a |\n| 2 | b |\n| 1 | a |") == HEADER
