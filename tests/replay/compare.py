"""Compares a collection that lived through many nights with one built from the last tree alone."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, text

from llmwiki.domain import Collection

MOST_TOLD = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two collections differ, and in what they may: both of these follow from history."""

    differences: tuple[str, ...]
    topics: int
    keys: int
    """Topics that have another address."""
    texts: int
    """Pages that a compile would write otherwise today, although their sources say the same:
    the sources were reflowed or stand in another order."""


def compare_collections(connection: Connection, lived: Collection, fresh: Collection) -> Comparison:
    """Compare every row that follows from the tree, by what the rows say and not by their ids."""
    differences = [
        difference
        for name, query in _QUERIES.items()
        for difference in _compare(name, *(_rows(connection, query, c) for c in (lived, fresh)))
    ]
    contents = [_contents(connection, collection) for collection in (lived, fresh)]
    differences += _compare("overview", *(Counter(lines) for lines, _ in contents))
    if contents[0][0] != contents[1][0]:
        differences.append("overview: the lines stand in another order")
    lived_keys, fresh_keys = (keys for _, keys in contents)
    changed = sum(left != right for left, right in zip(lived_keys, fresh_keys, strict=False))
    lived_texts, fresh_texts = (_texts(connection, collection) for collection in (lived, fresh))
    return Comparison(
        differences=tuple(differences),
        topics=len(fresh_keys),
        keys=changed,
        texts=sum(fresh_texts[number] != lived_texts.get(number) for number in fresh_texts),
    )


def _compare(name: str, lived: Counter[str], fresh: Counter[str]) -> Iterator[str]:
    for label, rows in (("only lived", lived - fresh), ("only fresh", fresh - lived)):
        if rows:
            yield f"{name}: {rows.total()} {label}: {sorted(rows)[:MOST_TOLD]}"


def _rows(connection: Connection, query: str, collection: Collection) -> Counter[str]:
    return Counter(connection.scalars(text(query), {"id": collection.id}))


def _texts(connection: Connection, collection: Collection) -> dict[int, object]:
    rows = connection.execute(text(_STATEMENTS), {"id": collection.id})
    return {row.position: row.statements for row in rows}


_LINK = re.compile(r"\[\[([^|\]]*)\|")


def _contents(connection: Connection, collection: Collection) -> tuple[list[str], list[str]]:
    """Return the lines of the overview without the keys, and the keys in their order."""
    body: str = connection.execute(
        text("SELECT body FROM page WHERE collection_id = :id AND kind = 'overview'"),
        {"id": collection.id},
    ).scalar_one()
    return _LINK.sub("[[", body).splitlines(), _LINK.findall(body)


_DOCUMENTS = """
SELECT jsonb_build_array(path, title, fingerprint, byte_size, attributes, evidence_family,
                         authority_tier, version)::text
FROM document WHERE collection_id = :id
"""

_CHUNKS = """
SELECT jsonb_build_array(d.path, c.position, p.position, c.breadcrumb, c.text, c.content_hash,
                         c.token_count, c.embedding_hash, c.identifiers, c.lexemes::text)::text
FROM chunk c
JOIN document d ON d.id = c.document_id
LEFT JOIN chunk p ON p.id = c.parent_id
WHERE c.collection_id = :id
"""

_TOPICS = """
SELECT jsonb_build_array(t.position, t.title, t.folder, (
           SELECT jsonb_agg(jsonb_build_array(d.path, c.position) ORDER BY tc.position)
           FROM topic_chunk tc
           JOIN chunk c ON c.id = tc.chunk_id
           JOIN document d ON d.id = c.document_id
           WHERE tc.topic_id = t.id
       ))::text
FROM topic t WHERE t.collection_id = :id AND t.retired_at IS NULL
"""

_LINKS = """
SELECT jsonb_build_array(l.kind, a.position, b.position, l.position)::text
FROM page_link l
JOIN page p ON p.id = l.page_id
LEFT JOIN topic a ON a.id = p.topic_id
JOIN page q ON q.id = l.target_page_id
JOIN topic b ON b.id = q.topic_id
WHERE l.collection_id = :id
"""

_RECORDED_EDGES = """
SELECT jsonb_build_array(t.position, d.path, c.position, s.source_hash_at_compile)::text
FROM page_source s
JOIN page p ON p.id = s.page_id
JOIN topic t ON t.id = p.topic_id
LEFT JOIN chunk c ON c.id = s.chunk_id
LEFT JOIN document d ON d.id = c.document_id
WHERE s.collection_id = :id AND p.retired_at IS NULL
"""

_VECTORS = """
SELECT DISTINCT jsonb_build_array(c.embedding_hash, e.vector::text)::text
FROM chunk c
JOIN collection k ON k.id = c.collection_id
LEFT JOIN embedding e
  ON e.collection_id = k.id AND e.embedder = k.embedder AND e.hash = c.embedding_hash
WHERE c.collection_id = :id AND c.parent_id IS NOT NULL
"""

_STATEMENTS = """
SELECT t.position, jsonb_agg(jsonb_build_array(s.role, s.heading, s.kind, s.text, (
           SELECT jsonb_agg(jsonb_build_array(d.path, c.position) ORDER BY d.path, c.position)
           FROM unnest(s.chunk_ids) AS cited (id)
           LEFT JOIN chunk c ON c.id = cited.id
           LEFT JOIN document d ON d.id = c.document_id
       )) ORDER BY s.position) AS statements
FROM statement s
JOIN page p ON p.id = s.page_id
JOIN topic t ON t.id = p.topic_id
WHERE s.collection_id = :id AND p.retired_at IS NULL
GROUP BY t.position
"""

_QUERIES = {
    "documents": _DOCUMENTS,
    "chunks": _CHUNKS,
    "topics and edges": _TOPICS,
    "links": _LINKS,
    "recorded edges": _RECORDED_EDGES,
    "vectors": _VECTORS,
}
