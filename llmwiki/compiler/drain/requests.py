"""What a drain asks for: the sources of pages as they stand now, divided into requests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from sqlalchemy import Connection

from llmwiki.compiler.fingerprint import recipe_hash, source_hash
from llmwiki.compiler.packs import PackLimits, plan_packs
from llmwiki.domain import GeneratorIdentity, PageId, TopicSources
from llmwiki.store import chunks
from llmwiki.store.queue import QueuedPage


def gather_sources(
    connection: Connection, pages: Sequence[QueuedPage]
) -> dict[PageId, TopicSources]:
    """Return what the pages are to be compiled from, as it stands now."""
    found = chunks.topic_sources(connection, [page.topic.id for page in pages])
    return {
        page.page_id: TopicSources(topic=page.topic, chunks=found.get(page.topic.id, ()))
        for page in pages
    }


def is_unchanged(page: QueuedPage, sources: TopicSources, generator: GeneratorIdentity) -> bool:
    """Tell whether the sources are again what the page was compiled from (a revert)."""
    return (
        page.source_hash == source_hash(sources.chunks)
        and page.recipe_hash == recipe_hash(generator)
        and page.title_at_compile == page.topic.title
    )


def plan_requests(
    pages: Sequence[QueuedPage],
    sources: Mapping[PageId, TopicSources],
    limits: PackLimits,
    sizes: Mapping[PageId, int],
) -> list[tuple[TopicSources, ...]]:
    """Divide pages, in their order, into requests; ``sizes`` holds the largest pack of some.

    Pages that failed before share no request with others, which a request that fails as a
    whole would take along.
    """
    packs: list[tuple[TopicSources, ...]] = []
    alike = groupby(
        pages, lambda page: (page.attempts > 0, sizes.get(page.page_id, limits.max_pages))
    )
    for (_, size), group in alike:
        within = replace(limits, max_pages=min(size, limits.max_pages))
        packs += plan_packs([sources[page.page_id] for page in group], within)
    return packs
