"""Writes pages that cost no call: the sources' own sentences, chosen, in reading order, cited.

A page keeps the lead sentence of each section and one more, then what adds most of the topic's
concepts for its length (see ``ranking``), up to a share of the source. Nothing is reworded and
no sentence is cut. The TLDR repeats one sentence of the sources, which the body may have too.
"""

from collections import defaultdict
from collections.abc import Sequence

from llmwiki.compiler.concepts import (
    Concepts,
    find_concepts,
    find_words,
    fold_words,
    weigh_concepts,
)
from llmwiki.compiler.headline import choose_tags, choose_tldr
from llmwiki.compiler.passage_blocks import without_marker
from llmwiki.compiler.prose_signals import (
    continues,
    is_boilerplate,
    is_chatty,
    is_definition,
    is_fragment,
    is_garbled,
    is_navigation,
    is_question,
)
from llmwiki.compiler.ranking import Candidate, Selection, fill
from llmwiki.compiler.source_sections import SourceSection, arrange_sections
from llmwiki.compiler.units import Unit, build_units
from llmwiki.domain import (
    Generation,
    GeneratorIdentity,
    PageDraft,
    PageSection,
    Statement,
    TopicId,
    TopicSources,
)

SHARE_OF_SOURCE = 0.4
"""Part of the source's tokens that a page may have."""
SHARE_WITH_LEADS = 0.45
"""Part that it may have for the sake of a second statement in a section that has one."""
MOST_PAGE_TOKENS = 1200
KEPT_WHOLE_TOKENS = 150
"""A source of fewer tokens is its own summary."""

_IDENTITY = GeneratorIdentity(kind="extractive", name="extractive", version="1")


class ExtractiveGenerator:
    """Implements the Generator port without a model: pure, the same page for the same sources."""

    @property
    def identity(self) -> GeneratorIdentity:
        """What goes into the recipe of its pages."""
        return _IDENTITY

    def generate(self, pack: Sequence[TopicSources]) -> Generation:
        """Write one draft for each topic that has text; a topic without any is a problem."""
        drafts: dict[TopicId, PageDraft] = {}
        problems: dict[TopicId, str] = {}
        for sources in pack:
            draft = write_page(sources)
            if draft is None:
                problems[sources.topic.id] = "the topic has no text to take sentences from"
            else:
                drafts[sources.topic.id] = draft
        return Generation(drafts=drafts, problems=problems)


def write_page(sources: TopicSources) -> PageDraft | None:
    """Return the page of a topic, or None where its chunks have no text."""
    sections = arrange_sections(sources)
    units = build_units([section.chunks for section in sections])
    if not units:
        return None
    concepts = [find_concepts(unit.text) for unit in units]
    title_words = fold_words(find_words(sources.topic.title))
    kept = _choose_units(units, concepts, sections, title_words)
    return PageDraft(
        title=sources.topic.title,
        tldr=choose_tldr(units, concepts, sections, title_words),
        tags=choose_tags(sources.chunks, concepts, sources.topic.title),
        sections=_assemble(units, sections, kept),
    )


def _assemble(
    units: Sequence[Unit], sections: Sequence[SourceSection], kept: set[int]
) -> tuple[PageSection, ...]:
    statements: dict[int, list[Statement]] = defaultdict(list)
    for index in sorted(kept):
        unit = units[index]
        statements[unit.section].append(
            Statement(text=unit.text, chunk_ids=unit.chunk_ids, kind=unit.kind)
        )
    return tuple(
        PageSection(heading=section.heading, statements=tuple(statements[number]))
        for number, section in enumerate(sections)
        if statements[number]
    )


def _choose_units(
    units: Sequence[Unit],
    concepts: Sequence[Concepts],
    sections: Sequence[SourceSection],
    title_words: frozenset[str],
) -> set[int]:
    selection = Selection(
        _candidates(units, concepts, sections), weigh_concepts(concepts, title_words)
    )
    total = sum(unit.tokens for unit in units)
    if total < KEPT_WHOLE_TOKENS:
        for index, unit in enumerate(units):
            if not unit.is_opener:
                selection.choose(index)
        return selection.chosen
    _choose_leads(selection, units, sections, round(total * SHARE_WITH_LEADS))
    fill(selection, min(MOST_PAGE_TOKENS, round(total * SHARE_OF_SOURCE)))
    return selection.chosen


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
            factor *= _NAVIGATION
        candidates.append(
            Candidate(
                tokens=unit.tokens,
                concepts=unit_concepts.all,
                factor=0.0 if unit.is_opener or unit.is_inner else factor,
                needs=unit.needs,
            )
        )
    return candidates


_SECTION_LEAD = 3.0
_NAVIGATION = 0.2


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
