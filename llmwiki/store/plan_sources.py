"""What drafts of evidence plans are made from: documents with their topics, and the links."""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from llmwiki.domain import Collection, TopicId


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    """A document with its place in the table of contents."""

    path: str
    title: str
    folder: str
    chunks: int
    topics: frozenset[TopicId]
    """Those that hold chunks of it: several for a long one, one for several short ones."""


_DOCUMENTS = """
SELECT d.path, d.title, min(t.folder) AS folder, count(*) AS chunks,
       array_agg(DISTINCT t.id) AS topics
FROM topic_chunk tc
JOIN topic t ON t.id = tc.topic_id
JOIN chunk c ON c.id = tc.chunk_id
JOIN document d ON d.id = c.document_id
WHERE tc.collection_id = :collection AND t.retired_at IS NULL
GROUP BY d.id
ORDER BY min(t.folder) COLLATE "C", min(t.position), d.path COLLATE "C"
"""

_LINKS = """
SELECT one.topic_id AS source, other.topic_id AS target
FROM page_link l
JOIN page one ON one.id = l.page_id
JOIN page other ON other.id = l.target_page_id
WHERE l.collection_id = :collection AND l.kind = 'sibling'
  AND one.topic_id IS NOT NULL AND other.topic_id IS NOT NULL
"""


def listed_documents(connection: Connection, collection: Collection) -> list[ListedDocument]:
    """Return the documents in the order of the table of contents."""
    rows = connection.execute(text(_DOCUMENTS), {"collection": collection.id}).mappings()
    return [
        ListedDocument(**{**row, "topics": frozenset(map(TopicId, row["topics"]))}) for row in rows
    ]


def linked_topics(
    connection: Connection, collection: Collection
) -> frozenset[tuple[TopicId, TopicId]]:
    """Return the pairs of topics whose pages of the wiki link to each other."""
    rows = connection.execute(text(_LINKS), {"collection": collection.id})
    return frozenset((TopicId(row.source), TopicId(row.target)) for row in rows)
