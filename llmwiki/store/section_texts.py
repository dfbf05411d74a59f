"""The whole text of sections, which chunks are cut from."""

from collections.abc import Iterable

from sqlalchemy import Connection, text

from llmwiki.domain import ChunkId

_TEXTS = "SELECT id, text FROM chunk WHERE id = ANY(:ids) AND parent_id IS NULL"


def section_texts(connection: Connection, section_ids: Iterable[ChunkId]) -> dict[ChunkId, str]:
    """Return the text of each section by its id."""
    rows = connection.execute(text(_TEXTS), {"ids": list(section_ids)})
    return {ChunkId(row.id): row.text for row in rows}
