from sqlalchemy import Engine

from llmwiki.domain import ChunkId
from llmwiki.store.found_chunks import FoundChunk, chunks_beside
from tests.support.wiki import Wiki, prose

NAMES = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis")


def section(wiki: Wiki) -> list[tuple[ChunkId, int]]:
    """Ingest a section of several chunks; their ids and tokens in reading order."""
    body = "\n\n".join(prose(name, 12) for name in NAMES)
    wiki.ingest({"long.md": f"# Long\n\n{body}\n", "other.md": "# Other\n\nOf no matter.\n"})
    rows = wiki.rows(
        "SELECT c.id, c.token_count FROM chunk c JOIN document d ON d.id = c.document_id "
        "WHERE d.path = 'long.md' AND c.parent_id IS NOT NULL ORDER BY c.position"
    )
    assert len(rows) >= 7
    return [(ChunkId(row[0]), row[1]) for row in rows]


def beside(engine: Engine, *ids: ChunkId, tokens: int) -> list[ChunkId]:
    with engine.connect() as connection:
        found = chunks_beside(connection, ids, tokens=tokens)
    chunks: list[FoundChunk] = [chunk for of in found.values() for chunk in of]
    return [chunk.id for chunk in chunks]


def test_each_side_of_a_chunk_is_read_as_far_as_the_tokens_reach(
    engine: Engine, wiki: Wiki
) -> None:
    parts = section(wiki)
    ids = [key for key, _ in parts]
    after = parts[3][1] + parts[4][1]
    before = parts[1][1] + parts[0][1]
    assert beside(engine, ids[2], tokens=max(before, after)) == ids[:5]
    assert beside(engine, ids[2], tokens=parts[3][1]) == ids[2 - (parts[1][1] <= parts[3][1]) : 4]
    assert beside(engine, ids[2], tokens=1_000_000) == ids


def test_without_room_a_chunk_stands_alone(engine: Engine, wiki: Wiki) -> None:
    ids = [key for key, _ in section(wiki)]
    assert beside(engine, ids[2], tokens=0) == [ids[2]]
    assert beside(engine, ids[2], tokens=-50) == [ids[2]]


def test_two_chunks_of_a_section_share_what_is_around_them(engine: Engine, wiki: Wiki) -> None:
    parts = section(wiki)
    ids = [key for key, _ in parts]
    widest = max(tokens for _, tokens in parts)
    assert beside(engine, ids[1], ids[3], tokens=widest) == ids[:5]
    assert beside(engine, tokens=widest) == []
