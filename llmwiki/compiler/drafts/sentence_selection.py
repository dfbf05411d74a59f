"""Decides which units a page keeps: leads of sections first, then what says most for its length."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from llmwiki.compiler.drafts.chunk_blocks import without_marker
from llmwiki.compiler.drafts.concepts import Concepts, weigh_concepts
from llmwiki.compiler.drafts.prose_signals import (
    continues,
    is_boilerplate,
    is_chatty,
    is_definition,
    is_fragment,
    is_garbled,
    is_navigation,
    is_question,
)
from llmwiki.compiler.drafts.ranking import Candidate, Selection, fill
from llmwiki.compiler.drafts.source_sections import SourceSection
from llmwiki.compiler.drafts.units import Unit

SHARE_OF_SOURCE = 0.4
"""Part of the source's tokens that a page may have."""
SHARE_WITH_LEADS = 0.45
"""Part that it may have for the sake of a second statement in a section that has one."""
MOST_PAGE_TOKENS = 1200
KEPT_WHOLE_TOKENS = 150
"""A source of fewer tokens is its own summary."""

_SECTION_LEAD = 3.0
"""How much more the first sentence of a section is worth."""
_NAVIGATION = 0.2
"""What is left of a unit's worth in a section that sends its reader elsewhere."""


def choose_units(
    units: Sequence[Unit],
    concepts: Sequence[Concepts],
    sections: Sequence[SourceSection],
    title_words: frozenset[str],
) -> set[int]:
    """Return the indexes of the units that a page keeps; never none of them."""
    selection = Selection(
        _candidates(units, concepts, sections), weigh_concepts(concepts, title_words)
    )
    total = sum(unit.tokens for unit in units)
    if total >= KEPT_WHOLE_TOKENS:
        _choose_leads(selection, units, sections, round(total * SHARE_WITH_LEADS))
        fill(selection, min(MOST_PAGE_TOKENS, round(total * SHARE_OF_SOURCE)))
    if not selection.chosen:
        _choose_in_order(selection, [i for i, unit in enumerate(units) if not unit.is_opener])
    return selection.chosen or {0}


def _choose_leads(
    selection: Selection, units: Sequence[Unit], sections: Sequence[SourceSection], limit: int
) -> None:
    """Give each section a statement, then, within the limit, those a second that gain most by it.

    Where even one for each is more than a page may have, the sections that say most have theirs.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for index, unit in enumerate(units):
        if not sections[unit.section].is_navigation:
            members[unit.section].append(index)
    for number, most in enumerate((MOST_PAGE_TOKENS, min(limit, MOST_PAGE_TOKENS))):
        lacking = [
            _best(selection, indexes)
            for indexes in members.values()
            if len(selection.chosen.intersection(indexes)) <= number
        ]
        for density, index in sorted(lacking, key=lambda entry: (-entry[0], entry[1])):
            if density > 0 and selection.fits(index, most):
                selection.choose(index)


def _choose_in_order(selection: Selection, indexes: Iterable[int]) -> None:
    """Choose all there is, as of a short source or one without a sentence, as far as it fits."""
    for index in indexes:
        if selection.fits(index, MOST_PAGE_TOKENS):
            selection.choose(index)


def _best(selection: Selection, indexes: Sequence[int]) -> tuple[float, int]:
    """Return the unit with the most gain for its cost; the earliest of equals."""
    return max(
        ((selection.density(index), index) for index in indexes if index not in selection.chosen),
        key=lambda entry: (entry[0], -entry[1]),
        default=(0.0, 0),
    )


def _candidates(
    units: Sequence[Unit], concepts: Sequence[Concepts], sections: Sequence[SourceSection]
) -> list[Candidate]:
    begun: set[int] = set()
    candidates = []
    for unit, unit_concepts in zip(units, concepts, strict=True):
        factor = _factor(unit, unit_concepts)
        if unit.form == "sentence" and unit.section not in begun:
            begun.add(unit.section)
            factor *= _SECTION_LEAD
        if sections[unit.section].is_navigation:
            is_link = unit.form == "item" and not unit_concepts.identifiers
            factor *= 0.0 if is_link else _NAVIGATION
        candidates.append(
            Candidate(
                tokens=unit.tokens,
                concepts=unit_concepts.all,
                factor=0.0 if unit.is_opener or unit.is_inner else factor,
                needs=unit.needs,
            )
        )
    return candidates


def _factor(unit: Unit, concepts: Concepts) -> float:
    """Return what the form of a unit makes of its worth; its content is weighed elsewhere."""
    if unit.form in ("code", "table"):
        return 0.3 if unit.is_cut else 1.0
    text = without_marker(unit.text)
    if is_navigation(text) or (is_fragment(text) and unit.form == "sentence"):
        return 0.1 if concepts.identifiers and not is_garbled(text) else 0.0
    factor = 1.0
    if unit.form == "sentence":
        factor *= 1.3 if unit.is_lead else 1.0
        factor *= 0.6 if continues(text) else 1.0
    factor *= 1.6 if is_definition(text) else 1.0
    factor *= 0.4 if is_boilerplate(text) else 1.0
    factor *= 0.4 if is_chatty(text) else 1.0
    factor *= 0.1 if is_question(text) else 1.0
    return factor
