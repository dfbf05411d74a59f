"""Finds in code and in tables what the cited passages do not have line by line."""

from collections.abc import Sequence

from llmwiki.compiler.gate_evidence import PassageFacts, is_fence, squeeze, squeeze_row


def unknown_code(text: str, cited: Sequence[PassageFacts]) -> str | None:
    """Find a line of code that no passage has, white space apart."""
    known = frozenset[str]().union(*(passage.lines for passage in cited))
    lines = [line for line in text.split("\n") if line.strip() and not is_fence(line)]
    return next((line for line in lines if squeeze(line) not in known), None)


def unknown_row(table: str, cited: Sequence[PassageFacts]) -> str | None:
    """Find a row of the table that no table of a passage has."""
    known = {row for passage in cited for rows in passage.table_rows for row in rows}
    lines = [line for line in table.split("\n") if line.strip()]
    return next((line for line in lines if (row := squeeze_row(line)) and row not in known), None)


def missing_row(table: str, cited: Sequence[PassageFacts]) -> str | None:
    """Find a row that is left out, unless one of the cited tables with this header is whole."""
    present = [row for line in table.split("\n") if (row := squeeze_row(line))]
    missing = [
        [row for row in rows if row not in set(present)]
        for passage in cited
        for rows in passage.table_rows
        if rows[:1] == tuple(present[:1])
    ]
    return missing[0][0] if missing and all(missing) else None
