"""Explains why a page is stale: the flag that the last sweep left, and what differs now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, GeneratorKind, StaleReason, Statement
from llmwiki.store import chunk_places, drift, pages, pins
from llmwiki.store.chunk_places import ChunkPlace
from llmwiki.store.drift import EdgeDifference
from llmwiki.store.pages import PageRow

State = Literal["fresh", "stale", "pending", "pinned", "retired"]
"""``pending``: something moved after the last sweep, so the next one will flag the page.

``pinned``: the page keeps its text, whatever differs, until the chunks of its topic move.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedChunk:
    """A chunk that differs, and what the page says on its authority."""

    chunk_id: ChunkId
    reason: StaleReason
    document_path: str | None
    """None for a chunk that is gone."""
    breadcrumb: tuple[str, ...]
    since: datetime | None
    """When its document was last ingested."""
    now_on_page: str | None
    """The page that a removed chunk went to, where it still exists."""
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a page is as it is."""

    slug: str
    state: State
    reasons: tuple[str, ...]
    since: datetime | None
    compiled_at: datetime | None
    written_by: str | None
    configured: str
    """The generator that would write the page today."""
    outdated_recipe: bool
    """Another generator, prompt or rendering is configured, and may replace the text."""
    title_now: str | None
    title_at_compile: str | None
    attempts: int
    last_error: str | None
    chunks: tuple[MovedChunk, ...]
    pinned_at: datetime | None
    """When it was pinned, where the pin holds."""

    @property
    def retitled(self) -> bool:
        """Tell whether the topic's title is no longer that of the page."""
        return self.compiled_at is not None and self.title_now != self.title_at_compile


def explain(
    connection: Connection,
    page: PageRow,
    *,
    recipe: str,
    generator_kind: GeneratorKind,
    generator_name: str,
) -> Explanation:
    """Compare a page with its sources and with the configured way of writing pages."""
    differing = drift.differences(connection, page.id)
    titles = (None, None) if page.topic_id is None else pages.topic_titles(connection, page.id)
    compiled = page.compiled_at is not None
    outdated = compiled and _is_outdated(page, recipe, generator_kind)
    pinned = pins.is_pinned(connection, page.id)
    moved = compiled and (bool(differing) or outdated or titles[0] != titles[1])
    return Explanation(
        slug=page.slug,
        state=_state(page, moved=moved, pinned=pinned),
        reasons=page.stale_reasons,
        since=page.stale_since,
        compiled_at=page.compiled_at,
        written_by=page.generator,
        configured=generator_name,
        outdated_recipe=outdated,
        title_now=titles[0],
        title_at_compile=titles[1],
        attempts=page.attempts,
        last_error=page.last_error,
        chunks=_moved_chunks(connection, page, differing) if compiled else (),
        pinned_at=page.pinned_at if pinned else None,
    )


def _is_outdated(page: PageRow, recipe: str, generator_kind: GeneratorKind) -> bool:
    """Tell whether another recipe would write the page, and may."""
    may_replace = not (page.generator_kind == "model" and generator_kind == "extractive")
    return page.topic_id is not None and page.recipe_hash != recipe and may_replace


def _state(page: PageRow, *, moved: bool, pinned: bool) -> State:
    if page.retired_at is not None:
        return "retired"
    if pinned:
        return "pinned"
    if page.stale:
        return "stale"
    return "pending" if moved else "fresh"


def _moved_chunks(
    connection: Connection, page: PageRow, differing: Sequence[EdgeDifference]
) -> tuple[MovedChunk, ...]:
    lost = [chunk.chunk_id for chunk in differing if chunk.reason == "removed"]
    places = chunk_places.find_places(connection, lost)
    cited = [statement for _, _, statement in pages.statements_of(connection, page.id)]
    return tuple(_moved(chunk, places.get(chunk.chunk_id), cited) for chunk in differing)


def _moved(
    difference: EdgeDifference, place: ChunkPlace | None, cited: Sequence[Statement]
) -> MovedChunk:
    return MovedChunk(
        chunk_id=difference.chunk_id,
        reason=difference.reason,
        document_path=place.document_path if place else difference.document_path,
        breadcrumb=place.breadcrumb if place else difference.breadcrumb,
        since=difference.since,
        now_on_page=place.page_slug if place else None,
        statements=tuple(
            statement.text for statement in cited if difference.chunk_id in statement.chunk_ids
        ),
    )
