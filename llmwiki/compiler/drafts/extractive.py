"""Writes pages that cost no call: the sources' own sentences, chosen, in reading order, cited.

A page keeps the lead sentence of each section and one more, then what adds most of the topic's
concepts for its length (see ``choice`` and ``ranking``), up to a share of the source. Nothing is
reworded and no sentence is cut. The TLDR repeats one sentence, which the body may have too.
"""

from collections import defaultdict
from collections.abc import Sequence

from llmwiki.compiler.drafts.concepts import find_concepts, find_words, fold_words
from llmwiki.compiler.drafts.headline import choose_tags, choose_tldr
from llmwiki.compiler.drafts.sentence_selection import choose_units
from llmwiki.compiler.drafts.source_sections import SourceSection, arrange_sections
from llmwiki.compiler.drafts.units import Unit, build_units
from llmwiki.domain import (
    Generation,
    GeneratorIdentity,
    PageDraft,
    PageSection,
    Statement,
    TopicId,
    TopicSources,
)

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
    kept = choose_units(units, concepts, sections, title_words)
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
