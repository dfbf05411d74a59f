"""Assembles a context, purely, within a budget of tokens.

Chunks come first and are never displaced: pages of the wiki, the overview, and the
surroundings of the best chunks take what is left.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from llmwiki.domain import ChunkId
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.context import ContextBlock
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.found_chunks import FoundChunk

SURROUNDED = 3
"""So many of the best chunks get the rest of their section, while tokens are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a context may hold, in the order in which it takes room."""

    found: tuple[Candidate, ...]
    """The best first."""
    protected: frozenset[ChunkId] = frozenset()
    """Those of them that take room before the others: evidence that nothing else gives."""
    anchors: tuple[Anchor, ...] = ()
    pages: tuple[ContextPage, ...] = ()
    led_to: tuple[Candidate, ...] = ()
    """Chunks that pages cite and that were not found."""
    sections: Mapping[ChunkId, Sequence[FoundChunk]]
    """What stands around the best chunks, by section, in reading order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What went into a context, and what the budget did."""

    blocks: tuple[ContextBlock, ...]
    anchors: tuple[Anchor, ...]
    pages: tuple[ContextPage, ...]
    surroundings: int
    cut: int
    tokens: int


def fitting(found: Sequence[Candidate], *, token_budget: int) -> tuple[Candidate, ...]:
    """Return the chunks that a context of this budget holds, the first in any case."""
    room = _Room(left=token_budget)
    return tuple(
        candidate
        for place, candidate in enumerate(found)
        if room.take(candidate.chunk.token_count, anyway=place == 0)
    )


def assemble(selection: Selection, *, token_budget: int) -> Assembly:
    """Choose within the budget, and merge chunks that stand together in a section.

    Blocks come in the order of their best chunks. The best chunk is in, whatever its length.
    """
    room = _Room(left=token_budget)
    chosen: dict[ChunkId, FoundChunk] = {}
    for candidate in sorted(selection.found, key=lambda each: each.id not in selection.protected):
        if room.take(candidate.chunk.token_count, anyway=not chosen):
            chosen[candidate.id] = candidate.chunk
    anchors = tuple(anchor for anchor in selection.anchors if room.take(anchor.tokens))
    pages = tuple(page for page in selection.pages if room.take(page.tokens))
    for candidate in selection.led_to:
        if room.take(candidate.chunk.token_count):
            chosen[candidate.id] = candidate.chunk
    surroundings = 0
    for chunk in _surroundings(selection):
        beside = chunk.id not in chosen and _touches(chunk, chosen)
        if beside and room.take(chunk.token_count):
            chosen[chunk.id] = chunk
            surroundings += 1
    return Assembly(
        blocks=_merged(chosen, selection),
        anchors=anchors,
        pages=pages,
        surroundings=surroundings,
        cut=sum(candidate.id not in chosen for candidate in selection.found),
        tokens=token_budget - room.left,
    )


@dataclass(slots=True)
class _Room:
    """Tokens that are left."""

    left: int

    def take(self, tokens: int, *, anyway: bool = False) -> bool:
        """Take so many if they are there, or anyway, which may leave less than nothing."""
        if tokens > self.left and not anyway:
            return False
        self.left -= tokens
        return True


def _surroundings(selection: Selection) -> Iterable[FoundChunk]:
    """Yield the chunks beside the best ones, the nearest first."""
    for candidate in selection.found[:SURROUNDED]:
        section = selection.sections.get(candidate.chunk.section_id, ())
        here = candidate.chunk.position
        yield from sorted(section, key=lambda each: (abs(each.position - here), each.position))


def _touches(chunk: FoundChunk, chosen: Mapping[ChunkId, FoundChunk]) -> bool:
    """Tell whether a chunk stands next to one that is chosen already, in its section."""
    return any(
        each.section_id == chunk.section_id and abs(each.position - chunk.position) == 1
        for each in chosen.values()
    )


def _merged(chosen: Mapping[ChunkId, FoundChunk], selection: Selection) -> tuple[ContextBlock, ...]:
    ranked = {candidate.id: candidate for candidate in (*selection.led_to, *selection.found)}
    led_to = {candidate.id for candidate in selection.led_to}
    order = {candidate.id: place for place, candidate in enumerate(selection.found)}
    last = len(order)
    groups = sorted(
        _runs(chosen.values()),
        key=lambda run: (min(order.get(chunk.id, last) for chunk in run), run[0].id),
    )
    return tuple(_block(number, run, ranked, led_to) for number, run in enumerate(groups, start=1))


def _runs(chunks: Iterable[FoundChunk]) -> list[list[FoundChunk]]:
    """Group chunks that follow each other in one section."""
    runs: list[list[FoundChunk]] = []
    for chunk in sorted(chunks, key=lambda each: (each.document_id, each.position)):
        before = runs[-1][-1] if runs else None
        if (
            before is not None
            and before.section_id == chunk.section_id
            and before.position + 1 == chunk.position
        ):
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    return runs


def _block(
    number: int,
    run: Sequence[FoundChunk],
    ranked: Mapping[ChunkId, Candidate],
    led_to: AbstractSet[ChunkId],
) -> ContextBlock:
    members = [ranked[chunk.id] for chunk in run if chunk.id in ranked]
    found_by = dict.fromkeys(
        name
        for candidate in members
        for name in candidate.ranks or ("page" if candidate.id in led_to else "rescue",)
    )
    return ContextBlock(
        number=number,
        chunks=tuple(run),
        score=max(candidate.score for candidate in members),
        found_by=tuple(found_by),
    )
