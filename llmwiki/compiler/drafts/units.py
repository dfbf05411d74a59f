"""Cuts the chunks of a topic into units: what a page keeps whole or leaves out.

A unit may need an earlier one to be understood: code needs the sentence that announces it, a
step the step before it, "It …" the sentence before it. Needs always point backwards, so that
they end. A unit that ends with a colon opens what follows, and says nothing without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from llmwiki.compiler.drafts.chunk_blocks import (
    ChunkBlock,
    ChunkBlockKind,
    ListItem,
    split_blocks,
    split_items,
)
from llmwiki.compiler.drafts.prose_signals import (
    announces_paragraph,
    continues,
    is_informative,
    is_label,
    opens,
)
from llmwiki.domain import ChunkId, SourceChunk, StatementKind
from llmwiki.text.hashing import normalise
from llmwiki.text.sentences import split_sentences
from llmwiki.text.tokens import count_tokens

UnitForm = Literal["sentence", "item", "code", "table"]

SHORT_LIST_TOKENS = 100
"""A list of at most so many is kept whole or not at all."""
PROCEDURE_TOKENS = 200
"""So is one of numbered steps: half a procedure misleads."""

_STATEMENT_KINDS: dict[UnitForm, StatementKind] = {
    "sentence": "prose",
    "item": "prose",
    "code": "code",
    "table": "table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A sentence, list item, code block or table, verbatim."""

    text: str
    form: UnitForm
    section: int
    chunk_ids: tuple[ChunkId, ...]
    """Every chunk that says the same."""
    tokens: int
    needs: int | None = None
    """The earlier unit that this one is not understood without."""
    is_opener: bool = False
    """Announces what follows: kept only for the sake of that."""
    is_inner: bool = False
    """In a list that is kept whole or not at all: its last item stands for it."""
    is_lead: bool = False
    """The first sentence of its paragraph."""
    is_cut: bool = False
    """A part of a code block or table that is larger than a chunk."""

    @property
    def kind(self) -> StatementKind:
        """The kind of statement that the unit becomes."""
        return _STATEMENT_KINDS[self.form]


def build_units(sections: Sequence[Sequence[SourceChunk]]) -> tuple[Unit, ...]:
    """Return the units of the sections in reading order, each text once."""
    builder = _Builder()
    for section, chunks in enumerate(sections):
        builder.begin_section(section)
        for chunk in chunks:
            builder.add_chunk(chunk)
    return tuple(builder.units)


@dataclass(slots=True)
class _Builder:
    units: list[Unit] = field(default_factory=list)
    _section: int = 0
    _chunk: ChunkId = field(init=False)
    _known: dict[tuple[UnitForm, str], int] = field(default_factory=dict)
    _previous: int | None = None
    _opener: int | None = None
    """The opener that still waits for what it announces."""
    _list_opener: int | None = None
    """The opener of the last list, which goes on in the next chunk."""
    _announced: dict[int, int] = field(default_factory=dict)
    """The first unit that each opener announced."""
    _steps: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By indent, the number of the last step and its unit."""

    def begin_section(self, section: int) -> None:
        self._section = section
        self._previous = self._opener = self._list_opener = None
        self._steps = {}

    def add_chunk(self, chunk: SourceChunk) -> None:
        self._chunk = chunk.id
        blocks = split_blocks(chunk.text)
        for position, block in enumerate(blocks):
            following = blocks[position + 1].kind if position + 1 < len(blocks) else None
            match block.kind:
                case "prose":
                    self._add_prose(block, following)
                case "list":
                    self._add_list(split_items(block.text), is_first=position == 0)
                case "code" | "table" if _says_something(block.text):
                    self._add_whole(block.text, block.kind, is_first=position == 0)

    def _add_prose(self, block: ChunkBlock, following: ChunkBlockKind | None) -> None:
        sentences = list(filter(_says_something, split_sentences(block.text)))
        if len(sentences) == 1 and following in ("code", "table") and is_label(sentences[0]):
            self._add(_folded(sentences[0]), "sentence", needs=self._take_opener(), is_opener=True)
            return
        if self._opener is not None and not self._announces_paragraph(self._opener):
            self._opener = self._previous = None
        for position, sentence in enumerate(sentences):
            text = _folded(sentence)
            needs = self._take_opener()
            if needs is None and continues(text):
                needs = self._supporting()
            self._add(text, "sentence", needs=needs, is_opener=opens(text), is_lead=not position)

    def _add_list(self, items: Sequence[ListItem], *, is_first: bool) -> None:
        if not (is_first and self._previous is not None and self._is_item(self._previous)):
            self._list_opener = self._opener
        tokens = sum(count_tokens(item.text) for item in items)
        is_short = tokens <= (SHORT_LIST_TOKENS if items[0].number is None else PROCEDURE_TOKENS)
        start = len(self.units)
        above: list[tuple[int, int]] = []
        for position, item in enumerate(items):
            if not _says_something(item.text):
                continue
            self._opener = None
            while above and above[-1][0] >= item.indent:
                above.pop()
            needs = above[-1][1] if above else self._list_opener
            needs = self._previous if is_short and position else self._step_before(item, needs)
            index = self._add(item.text, "item", needs=needs, is_opener=opens(item.text))
            if item.number is not None:
                self._steps[item.indent] = (item.number, index)
            above.append((item.indent, index))
        if is_short:
            self._hold_together(start)

    def _hold_together(self, start: int) -> None:
        """Let the last of the units since ``start`` stand for all: each needs the one before."""
        ends = [index for index in range(start, len(self.units)) if not self.units[index].is_opener]
        for index in ends[:-1]:
            self.units[index] = replace(self.units[index], is_inner=True)

    def _is_item(self, index: int) -> bool:
        return self.units[index].form == "item"

    def _step_before(self, item: ListItem, otherwise: int | None) -> int | None:
        number, index = self._steps.get(item.indent, (0, 0))
        if not number or item.number != number + 1:
            return otherwise
        if self.units[index].is_opener:
            return self._announced.get(index, self.units[index].needs)
        return index

    def _add_whole(self, text: str, form: Literal["code", "table"], *, is_first: bool) -> None:
        needs = self._take_opener()
        is_part = False
        if needs is None and self._previous is not None:
            previous = self.units[self._previous]
            is_part = is_first and previous.form == form
            if is_part:
                self.units[self._previous] = replace(previous, is_cut=True)
            if is_part or previous.kind == "prose":
                needs = self._previous if is_part else self._supporting()
        self._add(text, form, needs=needs, is_cut=is_part)

    def _announces_paragraph(self, index: int) -> bool:
        """Tell whether a paragraph can be what the opener announces; the body of an item is."""
        return self._is_item(index) or announces_paragraph(self.units[index].text)

    def _supporting(self) -> int | None:
        """Return the unit before, where it is one that others can lean on."""
        if self._previous is None:
            return None
        previous = self.units[self._previous]
        is_support = previous.form != "sentence" or is_informative(previous.text)
        return self._previous if is_support else None

    def _take_opener(self) -> int | None:
        opener, self._opener = self._opener, None
        return opener

    def _add(
        self,
        text: str,
        form: UnitForm,
        *,
        needs: int | None,
        is_opener: bool = False,
        is_lead: bool = False,
        is_cut: bool = False,
    ) -> int:
        """Add a unit, or cite this chunk too for a text that is known; return its index."""
        key = (form, normalise(text))
        index = len(self.units) if is_opener else self._known.setdefault(key, len(self.units))
        if index < len(self.units):
            self.units[index] = _cited_by(self.units[index], self._chunk)
        else:
            self.units.append(
                Unit(
                    text=text,
                    form=form,
                    section=self._section,
                    chunk_ids=(self._chunk,),
                    tokens=count_tokens(text),
                    needs=needs,
                    is_opener=is_opener,
                    is_lead=is_lead,
                    is_cut=is_cut,
                )
            )
        if needs is not None:
            self._announced.setdefault(needs, index)
        if is_opener:
            self._opener = index
        self._previous = index
        return index


def _cited_by(unit: Unit, chunk_id: ChunkId) -> Unit:
    if chunk_id in unit.chunk_ids:
        return unit
    return replace(unit, chunk_ids=(*unit.chunk_ids, chunk_id))


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def _folded(text: str) -> str:
    return " ".join(text.split())
