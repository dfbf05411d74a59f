"""The names of the corpus are those that its rows give, whatever happened to them."""

import pytest
from alembic.command import downgrade, upgrade
from sqlalchemy import Connection, Engine, text

from llmwiki.domain import Collection
from llmwiki.store import migrations
from llmwiki.store.corpus_names import (
    BEARERS_READ,
    CorpusName,
    lexemes_in_order,
    names_with,
    runs_of,
    sections_below,
)
from tests.support.wiki import Wiki

DOCUMENTS = {
    "pumps.md": (
        "---\ntitle: Base pumps (model B)\nevidence_family: drives\n---\n"
        "# Base pumps (model B)\n\nThe text.\n\n## 4.2. Restoring the pressure\n\nMore.\n\n"
        "### Valves\n\nStill more.\n"
    ),
    "2024.md": "# 2024\n\nA year.\n\n## Restoring the pressure\n\nAgain.\n",
}

NAMES = "SELECT kind, key, name FROM corpus_name ORDER BY kind, key, name"


def keys(wiki: Wiki) -> set[tuple[str, str]]:
    return {(kind, key) for kind, key, _ in wiki.rows(NAMES)}


def names_in(connection: Connection, collection: Collection, words: str) -> list[CorpusName]:
    lexemes = lexemes_in_order(connection, [collection], words)
    return names_with(connection, [collection], [key for _, _, key in runs_of(lexemes)])


def collection_of(wiki: Wiki) -> Collection:
    assert wiki.collection is not None
    return wiki.collection


def test_titles_headings_and_families_are_names_without_numbers_and_brackets(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    assert wiki.rows(NAMES) == [
        ("family", "drive", "drives"),
        ("heading", "restor pressur", "4.2. Restoring the pressure"),
        ("heading", "restor pressur", "Restoring the pressure"),
        ("heading", "valv", "Valves"),
        ("title", "base pump", "Base pumps (model B)"),
    ]


def test_names_follow_every_change_of_the_corpus(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    changed = DOCUMENTS["pumps.md"].replace("drives", "engines").replace("Valves", "Taps")
    wiki.ingest({**DOCUMENTS, "pumps.md": changed})
    assert {("family", "engin"), ("heading", "tap")} <= keys(wiki)
    assert not {("family", "drive"), ("heading", "valv")} & keys(wiki)
    wiki.ingest({"moved.md": changed, "2024.md": "# Years\n\nA year.\n"}, allow_shrink=True)
    assert ("title", "year") in keys(wiki)
    wiki.ingest({"2024.md": "# Years\n\nA year.\n"}, allow_shrink=True)
    assert keys(wiki) == {("title", "year")}


def test_a_collection_that_goes_takes_its_names_along(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    wiki.change("DELETE FROM collection")
    assert keys(wiki) == set()


def test_names_are_found_whatever_their_case_and_inflection(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    with wiki.engine.connect() as connection:
        found = names_in(
            connection, collection_of(wiki), "Does RESTORING of pressures need the base-pump?"
        )
    assert {(name.kind, name.key) for name in found} == {
        ("heading", "restor pressur"),
        ("title", "base pump"),
    }


def test_a_heading_names_its_section_and_those_below_it(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    with wiki.engine.connect() as connection:
        found = names_in(connection, collection_of(wiki), "restoring the pressure")
        sections = [name.section_id for name in found if name.section_id is not None]
        below = sections_below(connection, sections)
    assert sorted(len(ids) for ids in below.values()) == [1, 2]
    assert all(section in ids for section, ids in below.items())


def test_a_name_that_very_many_bear_is_read_up_to_a_bound(wiki: Wiki) -> None:
    body = "".join(f"## Examples\n\nNumber {number}.\n\n" for number in range(BEARERS_READ + 5))
    wiki.ingest({"a.md": f"# Title\n\n{body}"})
    with wiki.engine.connect() as connection:
        assert len(names_in(connection, collection_of(wiki), "example")) == BEARERS_READ


@pytest.mark.parametrize(
    "heading",
    ["word " * 20, "x" * 1500 + " " + "y" * 1500, "!!!", "12.3", "the of", "\U0001f600"],
    ids=["sentence", "huge", "marks", "number", "stop words", "emoji"],
)
def test_what_nobody_would_call_it_by_is_no_name_and_no_fault(wiki: Wiki, heading: str) -> None:
    report, _ = wiki.ingest({"a.md": f"# Title\n\nText.\n\n## {heading}\n\nMore.\n"})
    assert not report.problems
    assert keys(wiki) == {("title", "titl")}


def test_an_upgrade_reads_the_names_of_what_is_stored(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    before = wiki.rows(NAMES)
    _migrate(wiki.engine, "0005")
    _migrate(wiki.engine, "head")
    assert sorted(wiki.rows(NAMES)) == sorted(before)


def _migrate(engine: Engine, revision: str) -> None:
    config = migrations._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        (upgrade if revision == "head" else downgrade)(config, revision)
        connection.commit()


def test_each_collection_has_names_of_its_own(wiki: Wiki) -> None:
    wiki.ingest(DOCUMENTS)
    wiki.change(
        "INSERT INTO collection (name, owner, embedder, dimension) VALUES ('b', 'me', 'e', 3)"
    )
    with wiki.engine.connect() as connection:
        other = connection.execute(text("SELECT max(id) FROM collection")).scalar_one()
        elsewhere = Collection(
            id=other, name="b", owner="me", embedder=collection_of(wiki).embedder
        )
        assert names_in(connection, elsewhere, "base pumps") == []


def test_a_title_without_end_is_no_name_and_no_error(engine: Engine) -> None:
    endless = " ".join(f"word{number}" for number in range(300_000))
    with engine.connect() as connection:
        lexemes = connection.execute(
            text("SELECT lexemes_of_name('english', :name)"), {"name": endless}
        ).scalar_one()
    assert len(lexemes) > 8
