from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from llmwiki.domain import PageId
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.service import retrieve
from llmwiki.retrieval.wiki_pages import WikiUse, choose_statements, score_pages
from llmwiki.store import promotions
from llmwiki.store.page_search import FoundStatement
from llmwiki.store.promotions import WikiGate
from tests.support.questions import ending, station
from tests.support.wiki import Wiki

QUESTION = "How long is a backup kept?"


@pytest.fixture
def compiled(engine: Engine, tmp_path: Path) -> Wiki:
    wiki = station(engine, tmp_path)
    wiki.night()
    return wiki


def find(wiki: Wiki, use: WikiUse = "gate", question: str = QUESTION) -> Context:
    return retrieve(wiki.app.retrieval, question, wiki=use)


def promote(wiki: Wiki) -> WikiGate:
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        promotions.promote(connection, wiki.collection)
        connection.commit()
    return gate(wiki)


def gate(wiki: Wiki) -> WikiGate:
    assert wiki.collection is not None
    max_age = wiki.settings.retrieval.lint_max_age
    with wiki.engine.connect() as connection:
        return promotions.wiki_gate(connection, wiki.collection, max_age=max_age)


def members(context: Context) -> set[int]:
    return {chunk_id for block in context.blocks for chunk_id in block.chunk_ids}


def test_pages_stay_off_the_path_until_they_are_promoted(compiled: Wiki) -> None:
    context = find(compiled)
    assert context.pages == ()
    told = ending(context.events, "pages")
    assert (told.status, told.reason) == ("skipped", "gate")
    assert "llmwiki promote --collection docs" in (told.message or "")


def test_a_promoted_wiki_adds_pages_with_the_statements_that_fit(compiled: Wiki) -> None:
    assert promote(compiled).is_open
    context = find(compiled)
    first = context.pages[0]
    assert any("kept for 30 days" in statement.text for statement in first.statements)
    assert not first.page.stale
    assert set(first.cited) <= members(context)


def test_pages_never_displace_a_chunk(compiled: Wiki) -> None:
    promote(compiled)
    for question in (QUESTION, "How do I use probes?", "Is DISK-90 an alert?", "colours"):
        flat = find(compiled, "off", question)
        with_pages = find(compiled, "gate", question)
        assert with_pages.ranking == flat.ranking
        assert members(flat) >= {candidate.id for candidate in flat.ranking}
        assert members(with_pages) >= {candidate.id for candidate in flat.ranking}


def test_the_gate_closes_when_lint_is_too_old_and_opens_after_the_next(compiled: Wiki) -> None:
    promote(compiled)
    compiled.change(
        "UPDATE record SET created_at = created_at - interval '37 hours' WHERE kind = 'lint'"
    )
    assert gate(compiled).reason == "lint-too-old"
    assert find(compiled).pages == ()
    compiled.lint()
    assert gate(compiled).is_open
    assert find(compiled).pages


def test_a_lint_may_be_of_any_age_where_the_setting_says_so(compiled: Wiki) -> None:
    promote(compiled)
    assert compiled.collection is not None
    with compiled.engine.connect() as connection:
        stands = promotions.wiki_gate(connection, compiled.collection, max_age=timedelta.max)
    assert stands.is_open


def test_the_gate_closes_when_lint_finds_an_error(compiled: Wiki) -> None:
    promote(compiled)
    compiled.change("UPDATE page SET slug = slug || '-moved' WHERE kind = 'page'")
    compiled.change("UPDATE statement SET chunk_ids = '{}'")
    compiled.lint()
    assert gate(compiled).reason == "lint-errors"
    assert find(compiled).pages == ()


def test_a_dry_run_of_lint_does_not_open_the_gate(engine: Engine, tmp_path: Path) -> None:
    wiki = station(engine, tmp_path)
    wiki.sweep()
    wiki.drain()
    promote(wiki)
    wiki.night(dry_run=True)
    assert gate(wiki).reason == "not-linted"


def test_a_revoked_promotion_closes_the_gate(compiled: Wiki) -> None:
    promote(compiled)
    assert compiled.collection is not None
    with compiled.engine.connect() as connection:
        promotions.demote(connection, compiled.collection)
        connection.commit()
    assert gate(compiled).reason == "not-promoted"


def test_a_stale_page_is_served_with_its_reasons_and_the_statements_affected(
    compiled: Wiki,
) -> None:
    promote(compiled)
    text = (compiled.folder / "guide/backup.md").read_text()
    (compiled.folder / "guide/backup.md").write_text(text.replace("30 days", "90 days"))
    compiled.ingest()
    compiled.sweep()
    context = find(compiled)
    page = next(page for page in context.pages if page.page.stale)
    assert page.page.stale_reasons == ("content",)
    affected = [statement.text for statement in page.affected]
    assert affected
    assert all("30 days" in text or "backup" in text.lower() for text in affected)
    unaffected = [s for s in page.statements if not s.affected]
    assert all("30 days" not in statement.text for statement in unaffected)
    assert "90 days" in context.blocks[0].text
    assert ending(context.events, "pages").facts()["detail"]["stale"] == (page.page.slug,)


def test_wiki_on_serves_pages_through_a_closed_gate(compiled: Wiki) -> None:
    assert find(compiled, "on").pages


def test_a_page_that_goes_in_the_middle_of_a_question_is_left_out(compiled: Wiki) -> None:
    def remove(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM page p\n" in statement:
            compiled.change("DELETE FROM page WHERE kind = 'page'")

    event.listen(compiled.engine, "after_cursor_execute", remove)
    try:
        context = find(compiled, "on")
    finally:
        event.remove(compiled.engine, "after_cursor_execute", remove)
    assert context.pages == ()
    assert context.ranking


def test_no_page_is_served_before_it_has_a_text(engine: Engine, tmp_path: Path) -> None:
    context = find(station(engine, tmp_path), "on")
    assert context.pages == ()
    assert ending(context.events, "pages").reason == "empty"


def test_pages_are_scored_by_the_mean_of_standard_scores() -> None:
    scores = score_pages([{PageId(1): 0.9, PageId(2): 0.1}, {PageId(1): 5.0}])
    assert scores == {PageId(1): 1.0, PageId(2): -1.0}
    assert score_pages([]) == {}


def statement(position: int, role: str, words: int, score: float) -> FoundStatement:
    return FoundStatement(
        page_id=PageId(1),
        position=position,
        role=role,
        heading="",
        text="word " * words,
        kind="prose",
        chunk_ids=(),
        score=score,
        affected=False,
    )


def test_the_summary_and_the_best_statements_are_chosen_in_page_order() -> None:
    chosen = choose_statements(
        [
            statement(0, "tldr", 20, 0.0),
            statement(1, "body", 150, 1.0),
            statement(2, "body", 150, 2.0),
            statement(3, "body", 30, 1.5),
            statement(4, "body", 5, 0.0),
        ]
    )
    assert [each.position for each in chosen] == [0, 2, 3]


def test_a_wiki_in_another_vector_space_is_found_by_its_words(
    compiled: Wiki, tmp_path: Path
) -> None:
    """Pages of another space must not meet the question's vector, whatever its length."""
    (tmp_path / "other").mkdir()
    other = Wiki(compiled.engine, tmp_path / "other", name="other")
    other.app.embedder = HashingEmbedder(64)
    other.ingest({"pump.md": "# Pump\n\nThe pump moves water through the pipe.\n"})
    context = retrieve(other.app.retrieval, QUESTION, wiki="on")
    assert [page.collection for page in context.pages][:1] == ["docs"]


def test_a_summary_that_is_the_first_statement_is_said_once() -> None:
    said = [statement(1, "tldr", 4, 0.5), statement(2, "section", 4, 0.5)]
    assert [each.role for each in choose_statements(said)] == ["tldr"]
