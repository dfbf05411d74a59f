"""What the gate does with a page as a whole: repairs of its small parts, and refusals."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llmwiki.config import GateLimits
from llmwiki.domain import PageDraft, PageSection, Statement, TopicSources
from llmwiki.grounding.blocks import block_markup, without_invisible
from llmwiki.grounding.evidence import ChunkFacts, Evidence, occurrences
from llmwiki.grounding.leaks import leaks
from llmwiki.grounding.markup import markup
from llmwiki.grounding.statement_rules import find_offence
from llmwiki.grounding.support import unsupported_details
from llmwiki.text.hashing import normalise
from llmwiki.text.preamble import looks_like_preamble

REFUSALS: Mapping[str, str] = {
    "no-sources": "the topic has no chunks to write from",
    "page-too-long": "the page is longer than any page may be",
    "nothing-left": "no statement of the page can be kept",
    "too-many-dropped": "too many statements of the page cannot be kept",
    "no-tldr": "the page has no summary, and no sentence that could be one",
    "shrunk": "the page is far shorter than the one that it replaces, and its sources are not",
    "thin": "the page says next to nothing of its sources",
    "padded": "the page is far longer than its sources",
}
"""Why a page is refused, by code."""

REPAIRS: Mapping[str, str] = {
    "title-replaced": "the title is replaced by that of the topic",
    "tldr-replaced": "the summary is replaced by the first sentence of the page",
    "heading-repaired": "a heading is put right or removed; its statements stay",
    "tags-normalised": "tags are folded, and those that are none are left out",
}
"""What was put right in a page, by code."""

_LONGEST_TITLE = 150
_LONGEST_TAG = 40
_HEADING_MARKS = re.compile(r"^[\s#]+|[\s#]+$")
_NO_TAG = re.compile(r"[<>`\[\]{}|\\\n\u200b\u202a-\u202e\u2060\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The lengths that refusals compare, in characters."""

    page: int
    previous: int
    sources: int


def text_length(sections: Iterable[PageSection]) -> int:
    """Return the characters of the statements: what is measured against the sources."""
    return sum(len(each.text) for section in sections for each in section.statements)


def source_length(sources: TopicSources) -> int:
    """Return the characters of all chunks."""
    return sum(len(chunk.text) for chunk in sources.chunks)


def refuse_at_sight(draft: PageDraft, sources: TopicSources, limits: GateLimits) -> str | None:
    """Return the code of a refusal that needs no look at the statements."""
    if not sources.chunks:
        return "no-sources"
    whole = text_length(draft.sections) + len(draft.title) + len(draft.tldr.text)
    whole += sum(len(section.heading) for section in draft.sections)
    return "page-too-long" if whole > limits.max_page_characters else None


def refuse_for_losses(kept: int, dropped: int, limits: GateLimits) -> str | None:
    """Return the code of a refusal for the number of statements that were dropped."""
    if not kept:
        return "nothing-left"
    share = dropped / (kept + dropped)
    return "too-many-dropped" if share > limits.max_dropped_share else None


def refuse_for_length(measures: Measures, limits: GateLimits) -> str | None:
    """Return the code of a refusal for a length out of proportion."""
    owed = min(measures.previous, measures.sources)
    if measures.page < limits.min_share_of_previous * owed:
        return "shrunk"
    if measures.page < limits.min_share_of_sources * measures.sources:
        return "thin"
    most = limits.max_share_of_sources * measures.sources + limits.padding_allowance
    return "padded" if measures.page > most else None


def repair_title(title: str, sources: TopicSources, evidence: Evidence) -> str:
    """Return the title, or the topic's where it is not sensible."""
    if title == sources.topic.title or _is_sensible(title, evidence.all()):
        return title
    return sources.topic.title or sources.topic.key


def repair_tldr(
    tldr: Statement, sections: Iterable[PageSection], evidence: Evidence, limits: GateLimits
) -> Statement | None:
    """Return the summary, or the first sentence of the page that can stand for it, or None."""
    statements = (statement for section in sections for statement in section.statements)
    if _is_summary(tldr, evidence, limits):
        return tldr
    return next(
        (
            statement
            for statement in statements
            if statement.kind == "prose" and len(statement.text) <= limits.max_tldr_characters
        ),
        None,
    )


def repair_headings(sections: Iterable[PageSection], evidence: Evidence) -> Iterator[PageSection]:
    """Yield the sections; one without a sensible heading goes on with the section before it."""
    held: PageSection | None = None
    for section in sections:
        heading = _HEADING_MARKS.sub("", normalise(section.heading))
        sensible = bool(heading) and _is_sensible(heading, evidence.all())
        if held is not None and section.heading and not sensible:
            statements = (*held.statements, *section.statements)
            held = PageSection(heading=held.heading, statements=statements)
            continue
        if held is not None:
            yield held
        held = PageSection(heading=heading if sensible else "", statements=section.statements)
    if held is not None:
        yield held


def repair_tags(tags: Sequence[str], limits: GateLimits) -> tuple[str, ...]:
    """Return distinct short tags in lower case."""
    folded = (normalise(tag).lstrip("#").strip().lower() for tag in tags)
    sensible = (
        tag
        for tag in folded
        if 0 < len(tag) <= _LONGEST_TAG and any(map(str.isalnum, tag)) and not _NO_TAG.search(tag)
    )
    return tuple(dict.fromkeys(sensible))[: limits.max_tags]


def _is_summary(tldr: Statement, evidence: Evidence, limits: GateLimits) -> bool:
    if find_offence(tldr, evidence, limits) is not None:
        return False
    if occurrences(tldr.text, evidence.of(tldr.chunk_ids)):
        return True
    return tldr.kind == "prose" and len(tldr.text) <= limits.max_tldr_characters


def _is_sensible(title: str, chunks: Sequence[ChunkFacts]) -> bool:
    """Tell whether a title or heading is one line that the chunks bear out."""
    if "\n" in title:
        return False
    if occurrences(title, chunks):
        return True
    return (
        0 < len(title) <= _LONGEST_TITLE
        and any(map(str.isalnum, title))
        and not looks_like_preamble(without_invisible(title))
        and leaks(title, chunks) is None
        and block_markup(title, chunks) is None
        and markup(title, chunks) is None
        and not unsupported_details(title, [chunk.text for chunk in chunks])
    )
