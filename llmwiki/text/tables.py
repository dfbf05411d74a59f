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

    The header is two lines; empty where the part does not stand below one, and where it stands
    in several tables whose headers differ, since nobody can tell which of them it was cut from.
    """
    rows = part.partition("\n\n")[0].rstrip("\n")
    framed = f"\n{whole}\n"
    headers: set[str] = set()
    place = framed.find(f"\n{rows}\n")
    while place >= 0:
        headers.add(_header_at_the_end(framed[1:place]))
        place = framed.find(f"\n{rows}\n", place + 1)
    return headers.pop() if len(headers) == 1 else ""


def _header_at_the_end(text: str) -> str:
    """Return the header of the table that the text ends in the middle of."""
    above = text.split("\n")
    for place in range(len(above) - 1, 0, -1):
        if not _is_row(above[place]):
            break
        if _DELIMITERS.fullmatch(above[place]) and _is_row(above[place - 1]):
            return f"{above[place - 1]}\n{above[place]}"
    return ""


def _is_row(line: str) -> bool:
    return len(line) > 1 and line.startswith("|") and line.endswith("|")
