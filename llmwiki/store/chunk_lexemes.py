"""The lexemes that PostgreSQL made of chunks."""

from collections.abc import Iterable

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId

_LEXEMES = "SELECT id, tsvector_to_array(lexemes) AS lexemes FROM chunk WHERE id = ANY(:ids)"


def lexemes_of(connection: Connection, ids: Iterable[ChunkId]) -> dict[ChunkId, frozenset[str]]:
    """Return the distinct lexemes of each chunk; one that was removed meanwhile is left out."""
    rows = connection.execute(text(_LEXEMES), {"ids": list(ids)})
    return {ChunkId(row.id): frozenset(row.lexemes or ()) for row in rows}
