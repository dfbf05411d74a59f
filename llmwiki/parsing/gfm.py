"""Code and tables in the form that GitHub's Markdown gives them."""

import re
from collections.abc import Sequence

from llmwiki.parsing.parsed import Block

_WEB = ("http://", "https://", "ftp://")


def fold(text: str) -> str:
    """Return the text on one line, with single blanks between its words."""
    return " ".join(text.split())


def inline_code(text: str) -> str:
    """Return the text between backticks, more of them where it has some itself."""
    code = fold(text)
    if not code:
        return ""
    ticks = "`" * (_longest_run(code) + 1)
    return f"{ticks} {code} {ticks}" if "`" in code else f"{ticks}{code}{ticks}"


def link(text: str, address: str) -> str:
    """Return the text with the address, where that leads to the web and is not the text."""
    if not address.lower().startswith(_WEB) or text.strip().rstrip("/") == address.rstrip("/"):
        return text
    return f"{text} ({address})" if text.strip() else address


def code_block(text: str, language: str = "") -> Block:
    """Return a fenced block whose fence cannot end inside the code."""
    fence = fence_for(text)
    code = text.strip("\n").rstrip()
    return Block(kind="code", text=f"{fence}{language}\n{code}\n{fence}")


def fence_for(code: str, fence: str = "```") -> str:
    """Return the fence, longer where the code holds it."""
    longest = _longest_run(code, fence[0])
    return fence if longest < len(fence) else fence[0] * (longest + 1)


def table_block(rows: Sequence[Sequence[str]], *, header_rows: int) -> Block | None:
    """Return the rows as a table, or None when no cell says anything.

    Several header rows become one. A table without any gets an empty one: its first row is
    data, and must not be repeated above the parts of a table that is cut.
    """
    if not any(cell.strip() for row in rows for cell in row):
        return None
    width = max(len(row) for row in rows)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    header = [" ".join(filter(None, cells)) for cells in zip(*full[:header_rows], strict=True)]
    top = f"{_line(header or [''] * width)}\n{_line(['---'] * width)}"
    lines = [top, *map(_line, full[header_rows:])]
    return Block(kind="table", text="\n".join(lines), header=top)


def lay_out(rows: Sequence[Sequence[tuple[str, int, int]]]) -> list[list[str]]:
    """Put cells, given as text, columns and rows covered, into a rectangle.

    A cell's text stands in its first place; the other places that it covers stay empty.
    """
    taken: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        column = 0
        for text, wide, high in row:
            while (number, column) in taken:
                column += 1
            for below in range(min(high, len(rows) - number)):
                for beside in range(wide):
                    taken[number + below, column + beside] = ""
            taken[number, column] = text
    width = max((column + 1 for _, column in taken), default=0)
    return [
        [taken.get((number, column), "") for column in range(width)] for number in range(len(rows))
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(fold(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _longest_run(text: str, character: str = "`") -> int:
    return max(map(len, re.findall(f"{character}+", text)), default=0)
