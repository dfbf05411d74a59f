"""Finds the header of a table in whose middle a text begins.

Tables are in the form that the parsers give them: each row is a line between bars, and the second
line is the one of hyphens.
"""

import re

_DELIMITERS = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")


def begins_inside_table(text: str) -> bool:
    """Tell whether the first line is a row, and no header above a line of hyphens."""
    first, _, rest = text.partition("\n")
    return _is_row(first) and _DELIMITERS.fullmatch(rest.partition("\n")[0]) is None


def header_above(part: str, whole: str) -> str:
    """Return the header of the table of which the part, cut from the whole, begins with rows.

    The header is two lines; empty where the part does not stand below one.
    """
    rows = part.partition("\n\n")[0]
    above = whole[: max(0, whole.find(f"\n{rows}"))].split("\n")
    for place in range(len(above) - 1, 0, -1):
        if not _is_row(above[place]):
            break
        if _DELIMITERS.fullmatch(above[place]) and _is_row(above[place - 1]):
            return f"{above[place - 1]}\n{above[place]}"
    return ""


def _is_row(line: str) -> bool:
    return len(line) > 1 and line.startswith("|") and line.endswith("|")
