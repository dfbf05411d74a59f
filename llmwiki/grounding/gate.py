"""The gate before the commit: drops statements that the sources do not bear out, or the page.

Pure: it compares a draft with the chunks that it was written from, and asks no one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from llmwiki.config import GateLimits
from llmwiki.domain import ChunkId, PageDraft, PageSection, Statement, TopicSources
from llmwiki.grounding.evidence import Evidence, occurrences
from llmwiki.grounding.page_rules import (
    REFUSALS,
    Measures,
    refuse_at_sight,
    refuse_for_length,
    refuse_for_losses,
    repair_headings,
    repair_tags,
    repair_title,
    repair_tldr,
    source_length,
    text_length,
)
from llmwiki.grounding.statement_rules import Offence, find_offence
from llmwiki.text.hashing import normalise

__all__ = ["DroppedStatement", "GateLimits", "GateVerdict", "check_draft", "check_statements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedStatement:
    """A statement that the gate took out of a page."""

    text: str
    reason: str
    """A code of REASONS."""
    detail: str = ""
    """What in the statement offends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What the gate made of a draft; either ``draft`` or ``refusal`` is None."""

    draft: PageDraft | None
    """The page to write: without the statements dropped, with its small parts repaired."""
    dropped: tuple[DroppedStatement, ...] = ()
    repairs: tuple[str, ...] = ()
    """Codes of REPAIRS."""
    refusal: str | None = None
    """A code of REFUSALS, a colon, and the sentence."""


def check_draft(
    draft: PageDraft, sources: TopicSources, *, previous_length: int, limits: GateLimits
) -> GateVerdict:
    """Check a draft against the sources of its topic.

    ``previous_length`` is the length of the page that it replaces, in characters; 0 where there
    is none, or none that it should be measured against.
    """
    refusal = refuse_at_sight(draft, sources, limits)
    if refusal:
        return _refused(refusal, ())
    evidence = Evidence(sources)
    sections, dropped = _sift(draft.sections, evidence, limits)
    kept = sum(len(section.statements) for section in sections)
    refusal = refuse_for_losses(kept, len(dropped), limits)
    tldr = repair_tldr(draft.tldr, sections, evidence, limits)
    if refusal or tldr is None:
        return _refused(refusal or "no-tldr", dropped)
    page = PageDraft(
        title=repair_title(draft.title, sources, evidence),
        tldr=tldr,
        tags=repair_tags(draft.tags, limits),
        sections=tuple(repair_headings(sections, evidence)),
    )
    measures = Measures(
        page=text_length(sections), previous=previous_length, sources=source_length(sources)
    )
    refusal = refuse_for_length(measures, limits)
    if refusal:
        return _refused(refusal, dropped)
    return GateVerdict(draft=page, dropped=dropped, repairs=_repairs(draft, sections, page))


def check_statements(
    statements: Sequence[Statement], sources: TopicSources, limits: GateLimits
) -> tuple[tuple[Statement, ...], tuple[DroppedStatement, ...]]:
    """Return the statements that the sources bear out, and those that were dropped."""
    section = PageSection(heading="", statements=tuple(statements))
    sections, dropped = _sift([section], Evidence(sources), limits)
    return (sections[0].statements if sections else ()), dropped


def _refused(code: str, dropped: tuple[DroppedStatement, ...]) -> GateVerdict:
    return GateVerdict(draft=None, dropped=dropped, refusal=f"{code}: {REFUSALS[code]}")


def _sift(
    sections: Iterable[PageSection], evidence: Evidence, limits: GateLimits
) -> tuple[tuple[PageSection, ...], tuple[DroppedStatement, ...]]:
    """Return the sections that keep a statement, and the statements that were dropped."""
    said: Counter[tuple[str, tuple[ChunkId, ...]]] = Counter()
    dropped: list[DroppedStatement] = []
    sifted: list[PageSection] = []
    for section in sections:
        kept = []
        for statement in section.statements:
            offence = find_offence(statement, evidence, limits) or _repetition(
                statement, said, evidence
            )
            if offence is None:
                kept.append(statement)
            else:
                dropped.append(
                    DroppedStatement(
                        text=statement.text, reason=offence.reason, detail=offence.detail
                    )
                )
        if kept:
            sifted.append(replace(section, statements=tuple(kept)))
    return tuple(sifted), tuple(dropped)


def _repetition(
    statement: Statement, said: Counter[tuple[str, tuple[ChunkId, ...]]], evidence: Evidence
) -> Offence | None:
    """Count what was said; a page may say it as often as the chunks themselves do."""
    key = (normalise(statement.text), statement.chunk_ids)
    said[key] += 1
    if said[key] == 1 or said[key] <= occurrences(statement.text, evidence.of(statement.chunk_ids)):
        return None
    return Offence(reason="repeated", detail="")


def _repairs(
    draft: PageDraft, sections: tuple[PageSection, ...], page: PageDraft
) -> tuple[str, ...]:
    made = {
        "title-replaced": page.title != draft.title,
        "tldr-replaced": page.tldr != draft.tldr,
        "heading-repaired": page.sections != sections,
        "tags-normalised": page.tags != draft.tags,
    }
    return tuple(code for code, was_made in made.items() if was_made)
