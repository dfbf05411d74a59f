"""Cuts a parsed document into parent chunks (its sections) and child chunks.

Every decision rests on token counts and punctuation. A letter changed inside of a word changes
neither, so that it changes the one chunk that holds it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmwiki.ingest.chunked import Chunk, ChunkedSection
from llmwiki.ingest.cutting import TOLERANCE, cut_block
from llmwiki.parsing.parsed import Block, ParsedDocument, Section
from llmwiki.text.hashing import chunk_hash
from llmwiki.text.tokens import count_tokens

_SHORT_SHARE = 3
"""A block that introduces what follows has at most one part in so many of the target."""
_TINY_SHARE = 5
"""A last chunk with less than one part in so many of the target joins the one before."""
_JOINED_TOLERANCE = 1.25

_JOINT = "\n\n"


@dataclass(frozen=True, slots=True)
class _Group:
    """Pieces of text that stay together."""

    pieces: tuple[str, ...]
    tokens: int

    def __add__(self, other: "_Group") -> "_Group":
        return _Group(self.pieces + other.pieces, self.tokens + other.tokens)


def chunk_document(document: ParsedDocument, *, target_tokens: int) -> tuple[ChunkedSection, ...]:
    """Return the sections that have text, each with its chunks of about the target.

    A document of headings alone yields one section that lists them.
    """
    if target_tokens < 1:
        raise ValueError("a chunk needs a target of at least one token")
    sections = [section for section in document.sections if section.blocks]
    if not sections and document.sections:
        sections = [_list_headings(document)]
    return tuple(_chunk_section(document.title, section, target_tokens) for section in sections)


def _list_headings(document: ParsedDocument) -> Section:
    headings = [section.path[-1] for section in document.sections if section.path]
    block = Block(kind="list", text="\n".join(headings))
    return Section(path=(document.title,), blocks=(block,))


def _chunk_section(title: str, section: Section, target: int) -> ChunkedSection:
    # What stands before the first heading has the document's title above it, on pages too.
    heading = section.path[-1] if section.path else title
    text = _JOINT.join(block.text for block in section.blocks)
    groups = _join_tiny_last(list(_pack(_groups(section.blocks, target), target)), target)
    return ChunkedSection(
        path=section.path,
        text=text,
        content_hash=chunk_hash(heading, text),
        token_count=count_tokens(text),
        chunks=tuple(_chunk(heading, group) for group in groups),
    )


def _chunk(heading: str, group: _Group) -> Chunk:
    text = _JOINT.join(group.pieces)
    return Chunk(text=text, content_hash=chunk_hash(heading, text), token_count=group.tokens)


def _groups(blocks: Sequence[Block], target: int) -> Iterator[_Group]:
    """Yield the pieces of the blocks, a short introduction with what it introduces."""
    held: _Group | None = None
    for block in blocks:
        for piece in cut_block(block, target):
            group = _Group((piece,), count_tokens(piece))
            if held is not None:
                if held.tokens + group.tokens <= target * TOLERANCE:
                    group = held + group
                else:
                    yield held
            if _introduces(group, target):
                held = group
            else:
                held = None
                yield group
    if held is not None:
        yield held


def _introduces(group: _Group, target: int) -> bool:
    return group.tokens * _SHORT_SHARE <= target and group.pieces[-1].endswith((":", "\uff1a"))


def _pack(groups: Iterator[_Group], target: int) -> Iterator[_Group]:
    current: list[_Group] = []
    for group in groups:
        if current and sum(each.tokens for each in current) + group.tokens > target:
            yield _merge(current)
            current = []
        current.append(group)
    if current:
        yield _merge(current)


def _merge(groups: Sequence[_Group]) -> _Group:
    pieces = tuple(piece for group in groups for piece in group.pieces)
    return _Group(pieces, sum(group.tokens for group in groups))


def _join_tiny_last(groups: list[_Group], target: int) -> list[_Group]:
    if len(groups) < 2 or groups[-1].tokens * _TINY_SHARE >= target:
        return groups
    *others, before, last = groups
    if before.tokens + last.tokens >= target * _JOINED_TOLERANCE:
        return groups
    return [*others, before + last]
