"""What lint asks of a wiki's structure: pages, contents, links, and documents with gaps."""

from dataclasses import dataclass
from typing import cast

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, PageId, PageKind, StaleReason
from llmwiki.store.pins import pin_holds


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """A live page, without its text."""

    id: PageId
    slug: str
    kind: PageKind
    title: str
    compiled: bool
    stale: bool
    stale_reasons: tuple[StaleReason, ...]
    quarantined: bool
    pinned: bool
    """It keeps its text, whatever the differences, until its sources move."""
    body_characters: int
    has_search_vector: bool
    vector_size: int | None
    """Dimension of its vector in the collection's space, None where there is no vector."""
    linked_by_contents: bool
    recorded_sources: int
    differences: tuple[StaleReason, ...]
    """How the recorded edges differ from the current ones, whatever the stale flag says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostLink:
    """A link from a live page to one that is retired or of another collection."""

    page_id: PageId
    slug: str
    target_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentGaps:
    """Chunks of a document that a search in the collection's space would miss."""

    path: str
    chunks: int
    without_vector: int
    wrong_sized_vector: int
    without_search_vector: int


# The difference is computed here once more, and not taken from the sweep: lint has to find
# what the sweep missed. As there, only a full join sees what was added and removed.
_PAGES = f"""
WITH live AS (
    SELECT * FROM page WHERE collection_id = :collection AND retired_at IS NULL
),
moved AS (
    SELECT page_id,
           bool_or(recorded.hash <> present.hash) AS content,
           bool_or(recorded.hash IS NULL) AS added,
           bool_or(present.hash IS NULL) AS removed
    FROM (
        SELECT s.page_id, s.chunk_id, s.source_hash_at_compile AS hash
        FROM page_source s JOIN live ON live.id = s.page_id
    ) recorded
    FULL JOIN (
        SELECT live.id AS page_id, c.id AS chunk_id, c.content_hash AS hash
        FROM live
        JOIN topic_chunk tc ON tc.topic_id = live.topic_id
        JOIN chunk c ON c.id = tc.chunk_id
    ) present USING (page_id, chunk_id)
    WHERE recorded.hash IS DISTINCT FROM present.hash
    GROUP BY page_id
),
sources AS (
    SELECT page_id, count(*) AS recorded FROM page_source
    WHERE collection_id = :collection GROUP BY page_id
),
contents AS (
    SELECT DISTINCT l.target_page_id AS page_id
    FROM page_link l JOIN live o ON o.id = l.page_id AND o.kind = 'overview'
    WHERE l.kind = 'contents'
)
SELECT live.id, live.slug, live.kind, live.title,
       live.compiled_at IS NOT NULL AS compiled,
       live.stale, live.stale_reasons,
       live.quarantined_at IS NOT NULL AS quarantined,
       {pin_holds("live")} AS pinned,
       length(live.body) AS body_characters,
       live.search_vector IS NOT NULL AS has_search_vector,
       vector_dims(e.vector) AS vector_size,
       contents.page_id IS NOT NULL AS linked_by_contents,
       coalesce(sources.recorded, 0) AS recorded_sources,
       array_remove(ARRAY[
           CASE WHEN moved.content
                  OR live.topic_id IS NOT NULL AND t.title IS DISTINCT FROM
                     live.topic_title_at_compile
                THEN 'content' END,
           CASE WHEN moved.added THEN 'added' END,
           CASE WHEN moved.removed THEN 'removed' END
       ], NULL) AS differences
FROM live
LEFT JOIN topic t ON t.id = live.topic_id
LEFT JOIN moved ON moved.page_id = live.id
LEFT JOIN sources ON sources.page_id = live.id
LEFT JOIN contents ON contents.page_id = live.id
LEFT JOIN embedding e ON e.collection_id = :collection AND e.embedder = :embedder
                     AND e.hash = live.embedding_hash
ORDER BY live.id
"""  # noqa: S608 - composed of constants

_LOST_LINKS = """
SELECT p.id AS page_id, p.slug, t.slug AS target_slug
FROM page_link l
JOIN page p ON p.id = l.page_id
JOIN page t ON t.id = l.target_page_id
WHERE p.collection_id = :collection AND p.retired_at IS NULL
  AND (t.retired_at IS NOT NULL OR t.collection_id <> p.collection_id)
ORDER BY p.slug, t.slug
"""

_TOPICS_WITHOUT_PAGE = """
SELECT t.key
FROM topic t LEFT JOIN page p ON p.topic_id = t.id AND p.retired_at IS NULL
WHERE t.collection_id = :collection AND t.retired_at IS NULL AND p.id IS NULL
ORDER BY t.key
"""

_DOCUMENT_GAPS = """
SELECT * FROM (
    SELECT d.path,
           count(*) AS chunks,
           count(*) FILTER (WHERE e.hash IS NULL) AS without_vector,
           count(*) FILTER (WHERE vector_dims(e.vector) <> :dimension) AS wrong_sized_vector,
           count(*) FILTER (WHERE c.lexemes IS NULL) AS without_search_vector
    FROM chunk c
    JOIN document d ON d.id = c.document_id
    LEFT JOIN embedding e ON e.collection_id = c.collection_id AND e.embedder = :embedder
                         AND e.hash = c.embedding_hash
    WHERE c.collection_id = :collection AND c.parent_id IS NOT NULL
    GROUP BY d.path
) gaps
WHERE without_vector + wrong_sized_vector + without_search_vector > 0
ORDER BY path
"""


def live_pages(connection: Connection, collection: Collection) -> tuple[PageFacts, ...]:
    """Return the live pages of the collection, the contents page among them, by id."""
    rows = connection.execute(
        text(_PAGES), {"collection": collection.id, "embedder": collection.embedder.name}
    )
    return tuple(
        PageFacts(
            id=PageId(row.id),
            slug=row.slug,
            kind=cast("PageKind", row.kind),
            title=row.title,
            compiled=row.compiled,
            stale=row.stale,
            stale_reasons=tuple(row.stale_reasons),
            quarantined=row.quarantined,
            pinned=row.pinned,
            body_characters=row.body_characters,
            has_search_vector=row.has_search_vector,
            vector_size=row.vector_size,
            linked_by_contents=row.linked_by_contents,
            recorded_sources=row.recorded_sources,
            differences=tuple(row.differences),
        )
        for row in rows
    )


def lost_links(connection: Connection, collection: Collection) -> tuple[LostLink, ...]:
    """Return the links of live pages that lead out of the live collection."""
    rows = connection.execute(text(_LOST_LINKS), {"collection": collection.id})
    return tuple(
        LostLink(page_id=PageId(row.page_id), slug=row.slug, target_slug=row.target_slug)
        for row in rows
    )


def topics_without_page(connection: Connection, collection: Collection) -> tuple[str, ...]:
    """Return the keys of live topics that no live page stands for."""
    return tuple(connection.scalars(text(_TOPICS_WITHOUT_PAGE), {"collection": collection.id}))


def document_gaps(connection: Connection, collection: Collection) -> tuple[DocumentGaps, ...]:
    """Return the documents with chunks that lack a usable vector or lexemes, by path."""
    rows = connection.execute(
        text(_DOCUMENT_GAPS),
        {
            "collection": collection.id,
            "embedder": collection.embedder.name,
            "dimension": collection.embedder.dimension,
        },
    )
    return tuple(DocumentGaps(**row) for row in rows.mappings())
