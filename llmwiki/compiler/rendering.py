"""Renders, purely, a page's statements as Markdown whose footnotes name their sources."""

import re
from collections.abc import Iterable, Sequence

from llmwiki.domain import ChunkId, PageSection, SourceChunk, Statement

_CODE_SPAN = re.compile(r"(`+[^`]*`+)")


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
    return f"{statement.text}\n\n{marks}"


def _marks(statement: Statement, numbers: dict[ChunkId, int]) -> str:
    return "".join(
        f"[^{numbers.setdefault(chunk_id, len(numbers) + 1)}]" for chunk_id in statement.chunk_ids
    )


def _prose(text: str) -> str:
    """Keep ``[[`` of the sources from being read as a link; code spans stay as they are."""
    parts = _CODE_SPAN.split(text)
    return "".join(part if part.startswith("`") else part.replace("[[", r"\[\[") for part in parts)


def _place(chunk: SourceChunk) -> str:
    return " › ".join((f"`{chunk.document_path}`", *map(_prose, chunk.breadcrumb)))  # noqa: RUF001
