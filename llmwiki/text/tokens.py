"""A token count that needs no model.

A word counts one unit, a long one more, and each character of a script without spaces counts
one. The count is close to the true one of a BERT vocabulary on English documentation, and it
hardly moves under a typo: a letter changed inside a word leaves every cut of a chunk in place.
"""

import re

_UNIT = re.compile(
    r"[぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]"  # Kana, Han, Hangul: one unit a character
    r"|[^\W_]+|[^\w\s]+|_+"
)
_LONG_WORD = 9
"""Characters that one unit covers before a word counts as several."""


def count_tokens(text: str) -> int:
    """Return the estimated number of tokens in the text."""
    return sum(1 + (len(unit) - 1) // _LONG_WORD for unit in _UNIT.findall(text))
