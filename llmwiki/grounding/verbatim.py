"""Finds in code and in tables what the cited chunks do not have line by line."""

from collections.abc import Sequence

from llmwiki.grounding.evidence import ChunkFacts, is_fence, squeeze, squeeze_row


def unknown_code(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a line of code that no chunk has, white space apart."""
    known = frozenset[str]().union(*(chunk.lines for chunk in cited))
    lines = [line for line in text.split("\n") if line.strip() and not is_fence(line)]
    return next((line for line in lines if squeeze(line) not in known), None)


def unknown_row(table: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a row of the table that no table of a chunk has."""
    known = {row for chunk in cited for rows in chunk.table_rows for row in rows}
    lines = [line for line in table.split("\n") if line.strip()]
    return next((line for line in lines if (row := squeeze_row(line)) and row not in known), None)


def missing_row(table: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a row that is left out, unless one of the cited tables with this header is whole."""
    present = [row for line in table.split("\n") if (row := squeeze_row(line))]
    missing = [
        [row for row in rows if row not in set(present)]
        for chunk in cited
        for rows in chunk.table_rows
        if rows[:1] == tuple(present[:1])
    ]
    return missing[0][0] if missing and all(missing) else None
