"""Replaces what stands between an opening and a closing, in linear time.

A lazy regular expression searches to the end of the text from each opening that has no closing;
here, the first that has none ends the search.
"""

import re
from collections.abc import Callable

Replacement = Callable[[re.Match[str], str], str]
"""Takes the match of the opening and the text between the two."""


def replace_delimited(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str], replace: Replacement
) -> str:
    """Replace each opening, its closing and the text between; openings do not nest."""
    parts: list[str] = []
    position = 0
    while start := opening.search(text, position):
        end = closing.search(text, start.end())
        if end is None:
            break
        parts.append(text[position : start.start()])
        parts.append(replace(start, text[start.end() : end.start()]))
        position = end.end()
    parts.append(text[position:])
    return "".join(parts)


def remove_delimited(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Remove each opening with its closing and the text between."""
    return replace_delimited(text, opening, closing, lambda _, __: "")
