"""What drafts of evidence plans are made from: topics with their documents, and links."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlace:
    """A topic of the table of contents, and where its passages stand."""

    id: TopicId
    title: str
    folder: str
    passages: int
    documents: tuple[str, ...]
    """Paths."""
    headings: tuple[str, ...]
    """Of its sections, where it is a part of one document; empty for whole documents."""


_TOPICS = """
WITH owned AS (
    SELECT tc.topic_id, c.document_id, count(*) AS passages,
           array_agg(DISTINCT c.breadcrumb[cardinality(c.breadcrumb)]) AS headings,
           (SELECT count(*) FROM chunk whole
            WHERE whole.document_id = c.document_id AND whole.parent_id IS NOT NULL) AS whole
    FROM topic_chunk tc JOIN chunk c ON c.id = tc.chunk_id
    WHERE tc.collection_id = :collection
    GROUP BY tc.topic_id, c.document_id
)
SELECT t.id, t.title, t.folder, sum(o.passages)::bigint AS passages,
       array_agg(d.path ORDER BY d.path) AS documents,
       CASE WHEN count(*) = 1 AND min(o.passages) < min(o.whole) THEN min(o.headings)
            ELSE '{}' END AS headings
FROM topic t
JOIN owned o ON o.topic_id = t.id
JOIN document d ON d.id = o.document_id
WHERE t.collection_id = :collection AND t.retired_at IS NULL
GROUP BY t.id
ORDER BY t.folder COLLATE "C", t.position
"""

_LINKS = """
SELECT one.topic_id AS source, other.topic_id AS target
FROM page_link l
JOIN page one ON one.id = l.page_id
JOIN page other ON other.id = l.target_page_id
WHERE l.collection_id = :collection AND l.kind = 'sibling'
  AND one.topic_id IS NOT NULL AND other.topic_id IS NOT NULL
"""


def topic_places(connection: Connection, collection: Collection) -> list[TopicPlace]:
    """Return the live topics in the order of the table of contents."""
    rows = connection.execute(text(_TOPICS), {"collection": collection.id}).mappings()
    return [
        TopicPlace(
            **{
                **row,
                "documents": tuple(row["documents"]),
                "headings": tuple(row["headings"]),
            }
        )
        for row in rows
    ]


def linked_topics(
    connection: Connection, collections: Sequence[Collection]
) -> frozenset[tuple[TopicId, TopicId]]:
    """Return the pairs of topics whose pages of the wiki link to each other."""
    return frozenset(
        (TopicId(row.source), TopicId(row.target))
        for collection in collections
        for row in connection.execute(text(_LINKS), {"collection": collection.id})
    )
