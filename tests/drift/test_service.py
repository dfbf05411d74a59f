from llmwiki.domain import ChunkId, PageId
from llmwiki.drift.service import mark_pages_stale_for_chunks, verify_citations
from tests.support.wiki import Wiki, prose

FILES = {f"{name}.md": f"# {name.title()}\n\n{prose(name)}\n" for name in ("gear", "pump")}


def sources(wiki: Wiki, slug: str) -> tuple[PageId, list[ChunkId]]:
    rows = wiki.rows(
        """SELECT p.id, s.chunk_id FROM page p JOIN page_source s ON s.page_id = p.id
           WHERE p.slug = :slug ORDER BY s.position""",
        slug=slug,
    )
    return PageId(rows[0][0]), [ChunkId(row[1]) for row in rows]


def edit(wiki: Wiki, old: str, new: str) -> None:
    assert old in FILES["gear.md"]
    wiki.ingest(FILES | {"gear.md": FILES["gear.md"].replace(old, new)})


def test_citations_of_fresh_pages_verify(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    page, chunks = sources(wiki, "gear")
    assert verify_citations(wiki.engine, page, chunks) == []


def test_a_chunk_that_changed_or_is_gone_has_drifted_before_any_sweep(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    page, chunks = sources(wiki, "gear")
    assert len(chunks) > 1
    edit(wiki, "gear number 0 keeps", "gear number 0 loses")
    assert verify_citations(wiki.engine, page, chunks) == chunks[:1]
    wiki.change("DELETE FROM chunk WHERE id = :chunk", chunk=chunks[1])
    assert verify_citations(wiki.engine, page, chunks) == chunks[:2]


def test_a_chunk_that_the_page_never_used_is_not_its_drift(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    page, _ = sources(wiki, "gear")
    _, others = sources(wiki, "pump")
    assert verify_citations(wiki.engine, page, others) == []


def test_pages_can_be_marked_by_chunk_without_waiting_for_the_sweep(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    page, chunks = sources(wiki, "gear")
    assert mark_pages_stale_for_chunks(wiki.engine, chunks[:1]) == [page]
    assert wiki.stale() == {"gear": ["content"]}
    assert mark_pages_stale_for_chunks(wiki.engine, chunks[:1]) == []


def test_the_sweep_takes_back_a_mark_that_no_change_supports(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    _, chunks = sources(wiki, "gear")
    mark_pages_stale_for_chunks(wiki.engine, chunks)
    assert wiki.sweep().facts["pages_cleared"] == 1
    assert wiki.stale() == {}
