"""Assembles a context, purely, within a budget of tokens.

Passages come first and are never displaced: pages of the wiki, the overview, and the
surroundings of the best passages take what is left.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from llmwiki.domain import ChunkId
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.context import ContextBlock
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.passages import Passage

SURROUNDED = 3
"""So many of the best passages get the rest of their section, while tokens are left."""


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
    """Passages that pages cite and that were not found."""
    sections: Mapping[ChunkId, Sequence[Passage]]
    """What stands around the best passages, by section, in reading order."""


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
    """Return the passages that a context of this budget holds, the first in any case."""
    room = _Room(left=token_budget)
    return tuple(
        candidate
        for place, candidate in enumerate(found)
        if room.take(candidate.passage.token_count, anyway=place == 0)
    )


def assemble(selection: Selection, *, token_budget: int) -> Assembly:
    """Choose within the budget, and merge passages that stand together in a section.

    Blocks come in the order of their best passages. The best passage is in, whatever its length.
    """
    room = _Room(left=token_budget)
    chosen: dict[ChunkId, Passage] = {}
    for candidate in sorted(selection.found, key=lambda each: each.id not in selection.protected):
        if room.take(candidate.passage.token_count, anyway=not chosen):
            chosen[candidate.id] = candidate.passage
    anchors = tuple(anchor for anchor in selection.anchors if room.take(anchor.tokens))
    pages = tuple(page for page in selection.pages if room.take(page.tokens))
    for candidate in selection.led_to:
        if room.take(candidate.passage.token_count):
            chosen[candidate.id] = candidate.passage
    surroundings = 0
    for passage in _surroundings(selection):
        beside = passage.id not in chosen and _touches(passage, chosen)
        if beside and room.take(passage.token_count):
            chosen[passage.id] = passage
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


def _surroundings(selection: Selection) -> Iterable[Passage]:
    """Yield the passages beside the best ones, the nearest first."""
    for candidate in selection.found[:SURROUNDED]:
        section = selection.sections.get(candidate.passage.section_id, ())
        here = candidate.passage.position
        yield from sorted(section, key=lambda each: (abs(each.position - here), each.position))


def _touches(passage: Passage, chosen: Mapping[ChunkId, Passage]) -> bool:
    """Tell whether a passage stands next to one that is chosen already, in its section."""
    return any(
        each.section_id == passage.section_id and abs(each.position - passage.position) == 1
        for each in chosen.values()
    )


def _merged(chosen: Mapping[ChunkId, Passage], selection: Selection) -> tuple[ContextBlock, ...]:
    ranked = {candidate.id: candidate for candidate in (*selection.led_to, *selection.found)}
    led_to = {candidate.id for candidate in selection.led_to}
    order = {candidate.id: place for place, candidate in enumerate(selection.found)}
    last = len(order)
    groups = sorted(
        _runs(chosen.values()),
        key=lambda run: (min(order.get(passage.id, last) for passage in run), run[0].id),
    )
    return tuple(_block(number, run, ranked, led_to) for number, run in enumerate(groups, start=1))


def _runs(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Group passages that follow each other in one section."""
    runs: list[list[Passage]] = []
    for passage in sorted(passages, key=lambda each: (each.document_id, each.position)):
        before = runs[-1][-1] if runs else None
        if (
            before is not None
            and before.section_id == passage.section_id
            and before.position + 1 == passage.position
        ):
            runs[-1].append(passage)
        else:
            runs.append([passage])
    return runs


def _block(
    number: int,
    run: Sequence[Passage],
    ranked: Mapping[ChunkId, Candidate],
    led_to: AbstractSet[ChunkId],
) -> ContextBlock:
    members = [ranked[passage.id] for passage in run if passage.id in ranked]
    found_by = dict.fromkeys(
        name
        for candidate in members
        for name in candidate.ranks or ("page" if candidate.id in led_to else "rescue",)
    )
    return ContextBlock(
        number=number,
        passages=tuple(run),
        score=max(candidate.score for candidate in members),
        found_by=tuple(found_by),
    )
