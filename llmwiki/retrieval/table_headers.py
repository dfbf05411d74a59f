"""Gives a block that begins in the middle of a table the table's header, to be shown above it.

What is stored, hashed and cited stays as it is. A table that is cut repeats its header in each
part, unless that fills half of a passage; without it nobody can tell what the columns are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from llmwiki.domain import ChunkId
from llmwiki.retrieval.context import ContextBlock
from llmwiki.store.passages import Passage
from llmwiki.store.section_texts import section_texts
from llmwiki.text.tables import begins_inside_table, header_above
from llmwiki.text.tokens import count_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHeaders:
    """What stands above the rows that were torn from their table."""

    sections: Mapping[ChunkId, str]
    """The whole text of each section that such rows were found in."""

    def above(self, passage: Passage) -> str:
        """Return the header that a passage lacks; nothing where it lacks none."""
        if not begins_inside_table(passage.text):
            return ""
        return header_above(passage.text, self.sections.get(passage.section_id, ""))

    def tokens(self, passages: Iterable[Passage]) -> int:
        """Return what the headers of these passages take together."""
        return sum(count_tokens(self.above(passage)) for passage in passages)

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


def read_table_headers(connection: Connection, passages: Iterable[Passage]) -> TableHeaders:
    """Read the sections of the passages that begin in the middle of a table."""
    torn = {each.section_id for each in passages if begins_inside_table(each.text)}
    return TableHeaders(sections=section_texts(connection, torn) if torn else {})
