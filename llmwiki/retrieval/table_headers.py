"""Gives a block that begins in the middle of a table the table's header, to be shown above it.

What is stored, hashed and cited stays as it is. A table that is cut repeats its header in each
part, unless that fills half of a passage; without it nobody can tell what the columns are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection

from llmwiki.domain import ChunkId
from llmwiki.retrieval.context import ContextBlock
from llmwiki.store.section_texts import section_texts
from llmwiki.text.tables import begins_inside_table, header_above
from llmwiki.text.tokens import count_tokens


def with_table_headers(
    connection: Connection, blocks: Iterable[ContextBlock], *, tokens: int
) -> tuple[ContextBlock, ...]:
    """Return the blocks, those that begin inside of a table with its header.

    The headers take no more than so many tokens together, the best block's first.
    """
    given = tuple(blocks)
    torn = {block.first.section_id for block in given if begins_inside_table(block.first.text)}
    if not torn:
        return given
    sections = section_texts(connection, torn)
    shown: list[ContextBlock] = []
    for block in given:
        header = _header(block, sections) if begins_inside_table(block.first.text) else ""
        needed = count_tokens(header)
        fits = needed <= tokens
        tokens -= needed if fits else 0
        shown.append(replace(block, table_header=header) if fits else block)
    return tuple(shown)


def _header(block: ContextBlock, sections: Mapping[ChunkId, str]) -> str:
    return header_above(block.first.text, sections.get(block.first.section_id, ""))
