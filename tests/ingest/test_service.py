from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.config import IngestSettings, MetadataRule, Settings
from llmwiki.errors import ConfigurationError, ShrinkRefusedError, UsageError
from llmwiki.ingest.service import foretell_ingest, ingest_folder
from llmwiki.ports import Vectors
from llmwiki.providers.hashing_embedder import HashingEmbedder
from tests.support.wiki import HASHING, Wiki, prose, write_tree

FILES = {
    "index.md": f"# Home\n\n{prose('home')}\n",
    "guide/install.md": f"# Install\n\n{prose('pump')}\n\n## Linux\n\n{prose('valve')}\n",
    "guide/upgrade.md": f"# Upgrade\n\n{prose('gear')}\n",
}


def chunks(wiki: Wiki) -> dict[object, object]:
    rows = wiki.rows("SELECT id, content_hash FROM chunk WHERE parent_id IS NOT NULL")
    return {row[0]: row[1] for row in rows}


def test_a_second_run_over_the_same_folder_changes_no_row(wiki: Wiki) -> None:
    first, _ = wiki.ingest(FILES)
    before = wiki.rows("SELECT xmin::text, id FROM chunk UNION ALL SELECT xmin::text, id FROM page")
    second, overview = wiki.ingest()
    after = wiki.rows("SELECT xmin::text, id FROM chunk UNION ALL SELECT xmin::text, id FROM page")
    assert (first.added, first.unchanged) == (3, 0)
    assert (second.added, second.changed, second.unchanged, second.embedded) == (0, 0, 3, 0)
    assert not overview.contents_changed
    assert sorted(before) == sorted(after)


def test_a_typo_changes_one_chunk_and_its_section_and_nothing_else(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    before = wiki.rows("SELECT id, content_hash FROM chunk")
    edited = FILES["guide/install.md"].replace("valve number 3 keeps", "valve number 3 kepes")
    report, _ = wiki.ingest(FILES | {"guide/install.md": edited})
    after = wiki.rows("SELECT id, content_hash FROM chunk")
    assert report.changed == 1
    assert {row[0] for row in before} == {row[0] for row in after}
    assert len(set(after) - set(before)) == 2


def test_a_moved_file_keeps_its_chunks_and_their_embeddings(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    before = chunks(wiki)
    moved = {**FILES, "handbook/setup.md": FILES["guide/install.md"]}
    del moved["guide/install.md"]
    report, _ = wiki.ingest(moved)
    assert (report.moved, report.added, report.removed, report.embedded) == (1, 0, 0, 0)
    assert chunks(wiki) == before


def test_what_is_gone_from_the_folder_is_gone_from_the_corpus(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    remaining = {path: text for path, text in FILES.items() if path != "guide/upgrade.md"}
    report, overview = wiki.ingest(remaining)
    assert (report.removed, overview.retired) == (1, 1)
    assert wiki.rows("SELECT count(*) FROM document") == [(2,)]


@pytest.mark.parametrize("files", [{}, {"index.md": FILES["index.md"]}])
def test_a_run_that_would_lose_more_than_half_stops_before_it_writes(
    wiki: Wiki, files: dict[str, str]
) -> None:
    wiki.ingest(FILES)
    before = wiki.rows("SELECT id, path FROM document ORDER BY id")
    with pytest.raises(ShrinkRefusedError, match="--allow-shrink"):
        wiki.ingest(files)
    assert wiki.rows("SELECT id, path FROM document ORDER BY id") == before
    wiki.ingest(files, allow_shrink=True)
    assert wiki.rows("SELECT count(*) FROM document") == [(len(files),)]


def test_a_file_that_can_no_longer_be_read_keeps_its_document(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    before = chunks(wiki)
    (wiki.folder / "guide/upgrade.md").write_bytes(b"# Upgrade \xff\xfe broken")
    report, _ = wiki.ingest()
    (problem,) = report.problems
    assert problem.path == "guide/upgrade.md"
    assert problem.remedy
    assert chunks(wiki) == before


def test_metadata_comes_from_path_rules_and_front_matter_beats_them(
    engine: Engine, tmp_path: Path
) -> None:
    rules = (MetadataRule(path="guide/**", evidence_family="guides", authority_tier="official"),)
    settings = Settings(embedder=HASHING, ingest=IngestSettings(rules=rules))
    wiki = Wiki(engine, tmp_path, settings)
    wiki.ingest({"guide/a.md": f"---\nevidence_family: security\n---\n# A\n\n{prose('a')}\n"})
    assert wiki.rows("SELECT evidence_family, authority_tier, version FROM document") == [
        ("security", "official", None)
    ]


def test_a_changed_rule_reaches_documents_whose_files_did_not_change(
    engine: Engine, tmp_path: Path
) -> None:
    Wiki(engine, tmp_path).ingest({"guide/a.md": f"# A\n\n{prose('a')}\n"})
    rules = (MetadataRule(path="**", version="2"),)
    ruled = Wiki(engine, tmp_path, Settings(embedder=HASHING, ingest=IngestSettings(rules=rules)))
    report, _ = ruled.ingest()
    assert (report.changed, report.embedded) == (1, 0)
    assert ruled.rows("SELECT version FROM document") == [("2",)]


def test_another_embedder_is_refused_with_the_command_that_changes_over(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    with pytest.raises(ConfigurationError, match="llmwiki reembed --collection docs"):
        ingest_folder(
            wiki.engine, HashingEmbedder(dimension=32), IngestSettings(), [wiki.folder], "docs"
        )


class FailingEmbedder(HashingEmbedder):
    """A service that goes down after its first answers."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.answers = answers

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.answers == 0:
            raise ConnectionError("the service is down")
        self.answers -= 1
        return super().embed(texts)


def test_a_failing_embedder_leaves_whole_documents_and_the_next_run_goes_on(wiki: Wiki) -> None:
    many = {f"part{n:02}.md": f"# Part {n}\n\n{prose(f'part{n}', 400)}\n" for n in range(12)}
    for path, content in many.items():
        (wiki.folder / path).write_text(content)
    with pytest.raises(ConnectionError):
        ingest_folder(wiki.engine, FailingEmbedder(1), IngestSettings(), [wiki.folder], wiki.name)
    written = len(wiki.rows("SELECT id FROM document"))
    assert 0 < written < 12
    assert wiki.rows(
        """SELECT count(*) FROM chunk c WHERE parent_id IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM embedding e WHERE e.hash = c.embedding_hash)"""
    ) == [(0,)]
    report, _ = wiki.ingest()
    assert report.added == 12 - written


def test_a_folder_without_documents_is_refused_and_makes_no_collection(wiki: Wiki) -> None:
    with pytest.raises(ShrinkRefusedError, match="no readable document"):
        wiki.ingest({"picture.png": "not a document"})
    assert wiki.rows("SELECT count(*) FROM collection") == [(0,)]


def test_a_foretold_ingest_counts_what_a_real_one_does_and_writes_nothing(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    (wiki.folder / "guide/install.md").rename(wiki.folder / "guide/setup.md")
    (wiki.folder / "new.md").write_text("# New\n\nA new page.\n")
    before = wiki.rows("SELECT xmin::text, path FROM document ORDER BY 2")
    foretold = foretell_ingest(wiki.engine, wiki.settings.ingest, [wiki.folder], wiki.name)
    assert wiki.rows("SELECT xmin::text, path FROM document ORDER BY 2") == before
    done, _ = wiki.ingest()
    assert (foretold.added, foretold.moved, foretold.unchanged) == (1, 1, 2)
    assert (done.added, done.moved, done.unchanged) == (1, 1, 2)


def test_documents_below_what_cannot_be_reached_are_kept(wiki: Wiki, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    wiki.folder = tmp_path / "docs"
    elsewhere.mkdir()
    wiki.folder.mkdir()
    write_tree(elsewhere, {"far.md": f"# Far\n\n{prose('far')}\n"})
    write_tree(wiki.folder, FILES)
    (wiki.folder / "linked").symlink_to(elsewhere)
    assert wiki.ingest()[0].added == 4
    elsewhere.rename(tmp_path / "unmounted")
    report, overview = wiki.ingest()
    assert (report.removed, overview.retired) == (0, 0)
    assert [problem.path for problem in report.problems] == ["linked"]


@pytest.mark.parametrize(
    "hostile",
    [
        "---\nversion: 0x" + "f" * 6000 + "\n---\n# A\n\ntext\n",
        "# " + " ".join(f"w{number}" for number in range(200_000)) + "\n\ntext\n",
    ],
    ids=["an integer of 6,000 digits", "a heading of 200,000 words"],
)
def test_one_document_that_cannot_be_stored_does_not_end_the_run(wiki: Wiki, hostile: str) -> None:
    report, _ = wiki.ingest(FILES | {"hostile.md": hostile})
    [problem] = report.problems
    assert problem.path == "hostile.md"
    assert len(str(problem)) < 400
    assert not {"INSERT", "SELECT", "PL/pgSQL", "[SQL"} & set(str(problem).split())
    assert wiki.rows("SELECT count(*) FROM document") == [(3,)]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[31m"])
def test_a_collection_has_a_name_that_can_be_printed(wiki: Wiki, name: str) -> None:
    write_tree(wiki.folder, FILES)
    wiki.name = name
    with pytest.raises(UsageError, match="the name of the collection"):
        wiki.ingest()
