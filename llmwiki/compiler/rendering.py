"""Renders, purely, a page's statements as Markdown whose footnotes name their sources."""

import re
from collections.abc import Iterable, Sequence

from llmwiki.domain import ChunkId, PageSection, SourceChunk, Statement
from llmwiki.text.code_spans import find_code_spans

_ESCAPED_OR_BRACKET = re.compile(r"\\.|\[(?=[\[^])|(?<=\[)\[", re.DOTALL)
_CELL_END = re.compile(r"(?<!\\)(\|)")


def render_body(
    tldr: Statement, sections: Iterable[PageSection], sources: Sequence[SourceChunk]
) -> str:
    """Return the page below its title: summary, sections, then one footnote for each source.

    Where the first statement is the summary itself, it is not shown a second time right below.
    """
    numbers: dict[ChunkId, int] = {}
    blocks = [f"> {_prose(tldr.text)}{_marks(tldr, numbers)}"]
    previous = tldr
    for section in sections:
        if section.heading:
            blocks.append(f"## {_prose(section.heading)}")
        for statement in section.statements:
            if (statement.text, previous) != (tldr.text, tldr):
                blocks.append(_block(statement, numbers))
            previous = statement
    by_id = {chunk.id: chunk for chunk in sources}
    notes = [
        f"[^{number}]: {_place(by_id[chunk_id])}"
        for chunk_id, number in numbers.items()
        if chunk_id in by_id
    ]
    return "\n\n".join(blocks) + "\n\n" + "\n".join(notes) + "\n"


def _block(statement: Statement, numbers: dict[ChunkId, int]) -> str:
    marks = _marks(statement, numbers)
    if statement.kind == "prose":
        return f"{_prose(statement.text)}{marks}"
    # A mark inside a fence or a table row would become part of it.
    text = _table(statement.text) if statement.kind == "table" else statement.text
    return f"{text}\n\n{marks}"


def _marks(statement: Statement, numbers: dict[ChunkId, int]) -> str:
    return "".join(
        f"[^{numbers.setdefault(chunk_id, len(numbers) + 1)}]" for chunk_id in statement.chunk_ids
    )


def _prose(text: str) -> str:
    """Keep ``[[`` and ``[^`` from being read as links and footnotes; code spans stay."""
    parts: list[str] = []
    position = 0
    for start, end in (*find_code_spans(text), (len(text), len(text))):
        parts.append(_ESCAPED_OR_BRACKET.sub(_escape, text[position:start]))
        parts.append(text[start:end])
        position = end
    # Else a backslash at the end would escape the mark that follows.
    return "".join(parts) + (" " if text.endswith("\\") else "")


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("\\") else rf"\{match[0]}"


def _table(text: str) -> str:
    # A bar ends a cell even inside of backticks.
    lines = text.split("\n")
    return "\n".join("".join(map(_prose, _CELL_END.split(line))) for line in lines)


def _place(chunk: SourceChunk) -> str:
    return " › ".join((f"`{chunk.document_path}`", *map(_prose, chunk.breadcrumb)))  # noqa: RUF001
