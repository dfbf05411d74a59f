"""Gives a block that begins in the middle of a table the table's header, to be shown above it.

What is stored, hashed and cited stays as it is. A table that is cut repeats its header in each
part, unless that fills half of a chunk; without it nobody can tell what the columns are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from llmwiki.domain import ChunkId
from llmwiki.retrieval.context import ContextBlock
from llmwiki.store.found_chunks import FoundChunk
from llmwiki.store.section_texts import section_texts
from llmwiki.text.tables import begins_inside_table, header_above
from llmwiki.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHeaders:
    """What stands above the rows that were torn from their table."""

    sections: Mapping[ChunkId, str]
    """The whole text of each section that such rows were found in."""

    def above(self, chunk: FoundChunk) -> str:
        """Return the header that a chunk lacks; nothing where it lacks none."""
        if not begins_inside_table(chunk.text):
            return ""
        return header_above(chunk.text, self.sections.get(chunk.section_id, ""))

    def tokens(self, chunks: Iterable[FoundChunk]) -> int:
        """Return what the headers of these chunks take together."""
        return sum(count_tokens(self.above(chunk)) for chunk in chunks)

    def complete(self, blocks: Iterable[ContextBlock], *, tokens: int) -> tuple[ContextBlock, ...]:
        """Return the blocks with their headers, which take no more than ``tokens`` together."""
        completed: list[ContextBlock] = []
        for block in blocks:
            header = self.above(block.first)
            needed = count_tokens(header)
            if needed <= tokens:
                tokens -= needed
                completed.append(replace(block, table_header=header))
            else:
                completed.append(block)
        return tuple(completed)


def read_table_headers(connection: Connection, chunks: Iterable[FoundChunk]) -> TableHeaders:
    """Read the sections of the chunks that begin in the middle of a table."""
    torn = {each.section_id for each in chunks if begins_inside_table(each.text)}
    return TableHeaders(sections=section_texts(connection, torn) if torn else {})
