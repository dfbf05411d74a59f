"""Groups the chunks of a topic into the sections of its page, and names them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from llmwiki.compiler.drafts.prose_signals import is_navigation_heading
from llmwiki.domain import SourceChunk, TopicSources
from llmwiki.text.hashing import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSection:
    """Chunks of one document under one heading, in reading order."""

    heading: str
    chunks: tuple[SourceChunk, ...]
    is_navigation: bool
    """Its heading says that it sends the reader elsewhere, as "See also" does."""


def arrange_sections(sources: TopicSources) -> tuple[SourceSection, ...]:
    """Return one section for each document and breadcrumb, in the order of their first chunks."""
    groups: dict[tuple[str, tuple[str, ...]], list[SourceChunk]] = defaultdict(list)
    for chunk in sources.chunks:
        groups[chunk.document_path, chunk.breadcrumb].append(chunk)
    headings = _headings(list(groups), sources.topic.title)
    return tuple(
        SourceSection(
            heading=heading,
            chunks=tuple(chunks),
            is_navigation=len(breadcrumb) > 1 and is_navigation_heading(breadcrumb[-1]),
        )
        for heading, ((_, breadcrumb), chunks) in zip(headings, groups.items(), strict=True)
    )


def _headings(keys: Sequence[tuple[str, tuple[str, ...]]], title: str) -> list[str]:
    spans_documents = len({path for path, _ in keys}) > 1
    repeated = Counter(breadcrumb[-1:] for _, breadcrumb in keys)
    begun: set[str] = set()
    headings = []
    for path, breadcrumb in keys:
        names = breadcrumb[-1:]
        if spans_documents and path not in begun:
            names = breadcrumb[:1] + breadcrumb[1:][-1:]
        elif repeated[names] > 1:
            names = breadcrumb[-2:]
        begun.add(path)
        headings.append(": ".join(names))
    if headings and normalise(headings[0]) == normalise(title):
        headings[0] = ""
    return headings
