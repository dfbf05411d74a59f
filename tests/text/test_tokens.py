import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.text.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("one two three", 3),
        ("internationalisation", 3),
        ("snake_case", 3),
        ("a.b()", 5),
        ("安装指南", 4),
        ("Größe", 1),
    ],
)
def test_words_marks_and_characters_are_counted(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(alphabet="abc xyz.,-", min_size=1), st.randoms(use_true_random=False))
def test_a_letter_changed_inside_a_word_leaves_the_count(text: str, dice: random.Random) -> None:
    letters = [place for place, character in enumerate(text) if character.isalpha()]
    if letters:
        place = dice.choice(letters)
        assert count_tokens(text[:place] + "q" + text[place + 1 :]) == count_tokens(text)
