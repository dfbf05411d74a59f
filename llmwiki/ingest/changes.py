"""Decides, purely, which chunks of a document stay, change, come and go.

A chunk that says what it said keeps its row, and so its id, its embedding and the citations of
pages. A section is recognised by its headings, a chunk by its content; a chunk whose content
is new takes the row of one that disappeared from the same section, so that the edit shows as a
change of that chunk and not as a removal and an addition.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from llmwiki.domain import ChunkId
from llmwiki.store.chunks import ChunkValues, StoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionValues:
    """A section as it shall be stored, with its chunks in reading order."""

    values: ChunkValues
    chunks: tuple[ChunkValues, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChunk:
    """A chunk as it shall be stored, and the row that it takes over, if any."""

    values: ChunkValues
    stored: StoredChunk | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlan:
    """A section as it shall be stored, the row that it takes over, and its chunks."""

    values: ChunkValues
    stored: StoredChunk | None
    chunks: tuple[PlannedChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlan:
    """The whole change of one document's chunks."""

    sections: tuple[SectionPlan, ...]
    removed: tuple[ChunkId, ...]


@dataclass(slots=True)
class _Pool:
    """Stored chunks that no target has taken yet, findable under a key."""

    by_key: dict[object, deque[StoredChunk]] = field(default_factory=lambda: defaultdict(deque))
    taken: set[ChunkId] = field(default_factory=set)

    def put(self, key: object, chunk: StoredChunk) -> None:
        self.by_key[key].append(chunk)

    def take(self, key: object) -> StoredChunk | None:
        waiting = self.by_key.get(key)
        while waiting:
            chunk = waiting.popleft()
            if chunk.id not in self.taken:
                self.taken.add(chunk.id)
                return chunk
        return None


def plan_changes(stored: Sequence[StoredChunk], target: Sequence[SectionValues]) -> ChunkPlan:
    """Match the stored chunks of a document with those that it shall have."""
    stored_sections = [chunk for chunk in stored if chunk.parent_id is None]
    stored_chunks = [chunk for chunk in stored if chunk.parent_id is not None]
    sections = _match_sections(stored_sections, target)
    chunks = _match_chunks(stored_chunks, target, sections)
    plans = tuple(
        SectionPlan(
            values=section.values,
            stored=sections[index],
            chunks=tuple(
                PlannedChunk(values=values, stored=chunks[index, place])
                for place, values in enumerate(section.chunks)
            ),
        )
        for index, section in enumerate(target)
    )
    kept = {chunk.id for chunk in (*sections, *chunks.values()) if chunk is not None}
    return ChunkPlan(
        sections=plans, removed=tuple(chunk.id for chunk in stored if chunk.id not in kept)
    )


def _match_sections(
    stored: Iterable[StoredChunk], target: Sequence[SectionValues]
) -> list[StoredChunk | None]:
    """Match by headings, repeated ones in order; then what moved below others, by its content.

    Last by the text alone: the content of a section includes its heading, which may be new.
    """
    pool = _Pool()
    for chunk in stored:
        for key in _section_keys(chunk):
            pool.put(key, chunk)
    keys = [_section_keys(section.values) for section in target]
    found: list[StoredChunk | None] = [None] * len(keys)
    for alternatives in zip(*keys, strict=True):
        found = [match or pool.take(key) for match, key in zip(found, alternatives, strict=True)]
    return found


def _section_keys(section: StoredChunk | ChunkValues) -> tuple[object, ...]:
    """Return what a section is recognised by, the surest first."""
    return (
        ("headings", section.breadcrumb),
        ("content", section.content_hash),
        ("text", section.text),
    )


def _match_chunks(
    stored: Iterable[StoredChunk],
    target: Sequence[SectionValues],
    sections: Sequence[StoredChunk | None],
) -> dict[tuple[int, int], StoredChunk | None]:
    """Match by content in the same section, then anywhere in the document, then by place."""
    pool = _Pool()
    for chunk in stored:
        pool.put(("same section", chunk.parent_id, chunk.content_hash), chunk)
        pool.put(("anywhere", chunk.content_hash), chunk)
        pool.put(("place", chunk.parent_id), chunk)
    places = [
        (index, place, values.content_hash, section.id if section else None)
        for index, section in enumerate(sections)
        for place, values in enumerate(target[index].chunks)
    ]
    found: dict[tuple[int, int], StoredChunk | None] = {}
    for index, place, content, parent in places:
        found[index, place] = pool.take(("same section", parent, content))
    for index, place, content, _ in places:
        found[index, place] = found[index, place] or pool.take(("anywhere", content))
    for index, place, _, parent in places:
        if parent is not None:
            found[index, place] = found[index, place] or pool.take(("place", parent))
    return found
