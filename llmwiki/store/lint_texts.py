"""What lint asks of the pages' texts: statements, and the chunks that they were compiled from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, PageId, StatementKind
from llmwiki.store.lint_facts import PageFacts

PAGES_AT_A_TIME = 200
"""Pages whose texts are in memory at once: a wiki of any size is linted in bounded space."""

StatementRole = Literal["tldr", "body"]
SourceState = Literal["same", "changed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFacts:
    """A statement with its place in the page."""

    role: StatementRole
    section: int
    heading: str
    kind: StatementKind
    text: str
    chunk_ids: tuple[ChunkId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """A recorded source as it is today."""

    state: SourceState
    text: str
    """Its headings, then its text: a statement may draw on both. Empty when gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """A compiled page with its statements in order and its recorded sources."""

    page: PageFacts
    statements: tuple[StatementFacts, ...]
    sources: Mapping[ChunkId, SourceFacts]
    body: str
    """Its Markdown, as it is served."""
    live_slugs: frozenset[str]
    """The slugs of the pages that a link may name."""


_STATEMENTS = """
SELECT page_id, role, section_position, heading, kind, text, chunk_ids
FROM statement WHERE page_id = ANY(:pages)
ORDER BY page_id, position
"""

_BODIES = "SELECT id, body FROM page WHERE id = ANY(:pages)"

_SOURCES = """
SELECT s.page_id, s.chunk_id, c.breadcrumb, c.text,
       CASE WHEN c.id IS NULL THEN 'gone'
            WHEN c.content_hash = s.source_hash_at_compile THEN 'same'
            ELSE 'changed' END AS state
FROM page_source s LEFT JOIN chunk c ON c.id = s.chunk_id AND c.collection_id = s.collection_id
WHERE s.page_id = ANY(:pages)
"""


def page_texts(
    connection: Connection, pages: Sequence[PageFacts], live_slugs: frozenset[str]
) -> Iterator[PageText]:
    """Yield the texts of the given pages in order, some hundred pages a query."""
    for start in range(0, len(pages), PAGES_AT_A_TIME):
        batch = pages[start : start + PAGES_AT_A_TIME]
        ids = [page.id for page in batch]
        statements = _statements(connection, ids)
        sources = _sources(connection, ids)
        bodies = {row.id: row.body for row in connection.execute(text(_BODIES), {"pages": ids})}
        for page in batch:
            yield PageText(
                page=page,
                statements=tuple(statements.get(page.id, ())),
                sources=sources.get(page.id, {}),
                body=bodies.get(page.id) or "",
                live_slugs=live_slugs,
            )


def _statements(
    connection: Connection, page_ids: Iterable[PageId]
) -> dict[PageId, list[StatementFacts]]:
    found: dict[PageId, list[StatementFacts]] = defaultdict(list)
    for row in connection.execute(text(_STATEMENTS), {"pages": list(page_ids)}):
        found[PageId(row.page_id)].append(
            StatementFacts(
                role=cast("StatementRole", row.role),
                section=row.section_position,
                heading=row.heading,
                kind=cast("StatementKind", row.kind),
                text=row.text,
                chunk_ids=tuple(map(ChunkId, row.chunk_ids)),
            )
        )
    return found


def _sources(
    connection: Connection, page_ids: Iterable[PageId]
) -> dict[PageId, dict[ChunkId, SourceFacts]]:
    found: dict[PageId, dict[ChunkId, SourceFacts]] = defaultdict(dict)
    for row in connection.execute(text(_SOURCES), {"pages": list(page_ids)}):
        found[PageId(row.page_id)][ChunkId(row.chunk_id)] = SourceFacts(
            state=cast("SourceState", row.state),
            text="" if row.text is None else "\n".join((*row.breadcrumb, row.text)),
        )
    return found
