"""Keeps the edges that pages recorded on the chunks that say today what was recorded."""

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId, Collection, PageId

Moves = Mapping[ChunkId, ChunkId]
"""From the chunk that was recorded to the one that says the same now."""


def reanchor_pages(
    connection: Connection, collection: Collection, *, page_id: PageId | None = None
) -> int:
    """Point recorded edges at the chunk that now says the same; return how many moved.

    A section that moved to another file has new rows, and two files that swapped their names
    have each other's texts. Where a page's topic owns a chunk with the recorded content under
    another id, the page still says what its sources say: the edge and the citations follow, and
    nothing is stale. Looks at one page only where one is given.
    """
    found: dict[PageId, dict[ChunkId, ChunkId | None]] = defaultdict(dict)
    for row in connection.execute(text(_LOST), {"collection": collection.id, "page": page_id}):
        new = None if row.new_id is None else ChunkId(row.new_id)
        found[PageId(row.page_id)][ChunkId(row.old_id)] = new
    moves = {page: possible for page, lost in found.items() if (possible := _possible(lost))}
    for page, of_page in moves.items():
        _move(connection, page, of_page)
    return sum(map(len, moves.values()))


def _possible(lost: Mapping[ChunkId, ChunkId | None]) -> Moves:
    """Leave out moves to a chunk whose own edge cannot make room: one edge for each chunk."""
    moves = {old: new for old, new in lost.items() if new is not None}
    staying = lost.keys() - moves.keys()
    while blocked := [old for old, new in moves.items() if new in staying]:
        for old in blocked:
            del moves[old]
        staying = lost.keys() - moves.keys()
    return moves


def _move(connection: Connection, page: PageId, moves: Moves) -> None:
    parameters = {"page": page, "old": list(moves), "new": list(moves.values())}
    edges = connection.execute(text(_TAKE_EDGES), parameters).mappings().all()
    connection.execute(
        text(_PUT_EDGES), [{**edge, "new": moves[edge["chunk_id"]]} for edge in edges]
    )
    connection.execute(text(_MOVE_CITATIONS), parameters)


# Recorded edges without a current edge of the same chunk and content, each with a current
# edge of the same content that was not recorded, where there is one.
_LOST = """
WITH recorded AS (
    SELECT s.page_id, s.chunk_id, s.source_hash_at_compile AS hash, s.position
    FROM page_source s JOIN page p ON p.id = s.page_id
    WHERE s.collection_id = :collection AND p.retired_at IS NULL
      AND (CAST(:page AS bigint) IS NULL OR p.id = :page)
), present AS (
    SELECT p.id AS page_id, c.id AS chunk_id, c.content_hash AS hash, t.position
    FROM page p JOIN topic_chunk t ON t.topic_id = p.topic_id JOIN chunk c ON c.id = t.chunk_id
    WHERE p.collection_id = :collection AND p.retired_at IS NULL
      AND (CAST(:page AS bigint) IS NULL OR p.id = :page)
), lost AS (
    SELECT r.page_id, r.chunk_id, r.hash,
           row_number() OVER (PARTITION BY r.page_id, r.hash ORDER BY r.position) AS occurrence
    FROM recorded r LEFT JOIN present c USING (page_id, chunk_id, hash)
    WHERE c.position IS NULL
), fresh AS (
    SELECT c.page_id, c.chunk_id, c.hash,
           row_number() OVER (PARTITION BY c.page_id, c.hash ORDER BY c.position) AS occurrence
    FROM present c LEFT JOIN recorded r USING (page_id, chunk_id, hash)
    WHERE r.position IS NULL
)
SELECT lost.page_id, lost.chunk_id AS old_id, fresh.chunk_id AS new_id
FROM lost LEFT JOIN fresh USING (page_id, hash, occurrence)
"""

# Taken out all at once and then put back: two chunks may exchange their edges.
_TAKE_EDGES = """
DELETE FROM page_source WHERE page_id = :page AND chunk_id = ANY(:old)
RETURNING page_id, chunk_id, collection_id, position, source_hash_at_compile
"""

_PUT_EDGES = """
INSERT INTO page_source (page_id, chunk_id, collection_id, position, source_hash_at_compile)
VALUES (:page_id, :new, :collection_id, :position, :source_hash_at_compile)
"""

_MOVE_CITATIONS = """
UPDATE statement
SET chunk_ids = ARRAY(
    SELECT coalesce(moved.new_id, cited.id)
    FROM unnest(chunk_ids) WITH ORDINALITY AS cited (id, place)
    LEFT JOIN unnest(CAST(:old AS bigint[]), CAST(:new AS bigint[])) AS moved (old_id, new_id)
      ON moved.old_id = cited.id
    ORDER BY cited.place
)
WHERE page_id = :page AND chunk_ids && CAST(:old AS bigint[])
"""
