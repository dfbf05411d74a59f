import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from jobs import exit_codes, nightly
from jobs.runner import JobContext, JobResult
from llmwiki.providers.hashing_embedder import HashingEmbedder
from tests.support.wiki import Wiki, prose, write_tree

FILES = {
    "index.md": f"# Home\n\n{prose('home')}\n",
    "guide/install.md": f"# Install\n\n{prose('pump')}\n\n## Linux\n\n{prose('valve')}\n",
    "guide/upgrade.md": f"# Upgrade\n\n{prose('gear')}\n",
}


def edited(files: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    assert old in files[path]
    return files | {path: files[path].replace(old, new)}


def dump(engine: Engine) -> dict[str, list[str]]:
    """Return every row of every table, with the transaction that wrote it."""
    with engine.connect() as connection:
        tables = connection.scalars(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        ).all()
        return {
            table: sorted(
                connection.scalars(
                    text(f'SELECT xmin || row_to_json(t)::text FROM "{table}" t')  # noqa: S608
                )
            )
            for table in tables
        }


def test_the_first_night_compiles_every_topic_without_a_lint_error(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    result = wiki.night()
    assert result.exit_code == exit_codes.DONE
    assert result.facts["drain"]["compiled"] == 3
    assert result.facts["drain"]["remaining_stale"] == 0
    assert result.facts["lint"]["errors"] == 0
    assert wiki.rows("SELECT kind, count(*) FROM record GROUP BY kind ORDER BY kind") == [
        ("compile", 3),
        ("compile-batch", 1),
        ("drift-sweep", 1),
        ("lint", 1),
    ]


def test_a_second_night_does_nothing_and_says_so(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    pages = wiki.rows("SELECT xmin::text, id FROM page ORDER BY id")
    wiki.ingest()
    result = wiki.night()
    assert result.facts["sweep"]["pages_marked_stale"] == 0
    assert result.facts["drain"]["compiled"] == 0
    assert result.facts["drain"]["stopped_reason"] == "done"
    assert wiki.rows("SELECT xmin::text, id FROM page ORDER BY id") == pages


def test_only_the_page_whose_sources_moved_is_compiled_again(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest(edited(FILES, "guide/upgrade.md", "gear number 3 keeps", "gear number 3 loses"))
    result = wiki.night()
    assert [page["page"] for page in result.facts["sweep"]["pages"]] == ["guide/upgrade"]
    assert result.facts["sweep"]["reasons"] == {"content": 1}
    assert result.facts["drain"]["compiled"] == 1
    (body,) = wiki.rows("SELECT body FROM page WHERE slug = 'guide/upgrade'")
    assert "gear number 3 keeps" not in body[0]


def test_a_reverted_change_clears_the_flag_and_compiles_nothing(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest(edited(FILES, "guide/upgrade.md", "gear number 3 keeps", "gear number 3 loses"))
    wiki.sweep()
    assert wiki.stale() == {"guide/upgrade": ["content"]}
    wiki.ingest(FILES)
    result = wiki.night()
    assert result.facts["sweep"]["pages_cleared"] == 1
    assert result.facts["drain"]["compiled"] == 0


def test_a_change_that_is_reverted_between_sweep_and_drain_is_skipped_unchanged(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest(edited(FILES, "guide/upgrade.md", "gear number 3 keeps", "gear number 3 loses"))
    wiki.sweep()
    wiki.ingest(FILES)
    result = wiki.drain()
    assert (result.facts["compiled"], result.facts["skipped_unchanged"]) == (0, 1)
    assert wiki.stale() == {}


def test_a_topic_that_is_gone_retires_its_page_and_keeps_it(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest({path: FILES[path] for path in ("index.md", "guide/install.md")})
    result = wiki.night()
    assert result.exit_code == exit_codes.DONE
    (row,) = wiki.rows("SELECT retired_at IS NOT NULL, body <> '' FROM page WHERE slug ~ 'upgrade'")
    assert row == (True, True)


def test_a_document_that_comes_back_unchanged_costs_no_compile(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest({path: FILES[path] for path in ("index.md", "guide/install.md")})
    wiki.night()
    wiki.ingest(FILES)
    result = wiki.night()
    assert result.facts["drain"]["compiled"] == 0
    assert wiki.rows("SELECT retired_at FROM page WHERE slug ~ 'upgrade'") == [(None,)]
    assert result.facts["lint"]["errors"] == 0


def test_a_dry_run_changes_no_row_and_foretells_the_night(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    wiki.ingest(edited(FILES, "guide/upgrade.md", "gear number 3 keeps", "gear number 3 loses"))
    before = dump(wiki.engine)
    foretold = wiki.night(dry_run=True)
    assert dump(wiki.engine) == before
    assert (foretold.exit_code, foretold.facts["lint"]["errors"]) == (exit_codes.DONE, 0)
    assert [page["page"] for page in foretold.facts["drain"]["would_compile"]] == ["guide/upgrade"]
    assert wiki.night().facts["drain"]["compiled"] == 1


def test_one_part_that_breaks_down_does_not_keep_the_others_from_running(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_context: JobContext) -> JobResult:
        raise RuntimeError("the disk is full")

    parts = [("sweep", broken), *nightly._PARTS[1:]]
    monkeypatch.setattr(nightly, "_PARTS", tuple(parts))
    wiki.ingest(FILES)
    result = wiki.night()
    assert result.exit_code == exit_codes.ERROR
    assert result.facts["sweep"]["error"] == "the disk is full"
    assert result.facts["drain"]["compiled"] == 3
    assert wiki.rows("SELECT exit_code FROM run") == [(exit_codes.ERROR,)]


@pytest.fixture
def environment(database_url: str, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "LLMWIKI_DATABASE_URL": database_url,
        "LLMWIKI_EMBEDDER__PROVIDER": "hashing",
        "HOME": str(tmp_path),
    }


def run_module(
    module: str, *arguments: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_module_prints_one_json_object_and_logs_to_standard_error(
    wiki: Wiki, environment: dict[str, str]
) -> None:
    wiki.ingest(FILES)
    before = dump(wiki.engine)
    dry = run_module("jobs.nightly", "--dry-run", "--json", environment=environment)
    assert dump(wiki.engine) == before
    assert dry.returncode == exit_codes.DONE
    assert json.loads(dry.stdout)["dry_run"] is True
    real = run_module("jobs.nightly", "--json", environment=environment)
    document = json.loads(real.stdout)
    assert (document["schema_version"], document["drain"]["compiled"]) == (1, 3)
    assert document["run_id"] is not None
    assert "job.started" in real.stderr


def test_a_second_night_at_once_exits_75_and_names_the_first(
    wiki: Wiki, environment: dict[str, str]
) -> None:
    wiki.ingest(FILES)
    wiki.change(
        """WITH r AS (INSERT INTO run (job, arguments, host, process_id)
                      VALUES ('nightly', '{}', 'elsewhere', 1) RETURNING id)
           INSERT INTO job_lease SELECT 'nightly', id, now() + interval '1 minute' FROM r"""
    )
    result = run_module("jobs.nightly", environment=environment)
    assert result.returncode == exit_codes.LOCKED
    assert "run 1 of nightly is still alive" in result.stderr
    assert result.stdout == ""


def test_an_unknown_collection_is_an_error_that_lists_the_known_ones(
    wiki: Wiki, environment: dict[str, str]
) -> None:
    wiki.ingest(FILES)
    result = run_module("jobs.drift_sweep", "--collection", "dosc", environment=environment)
    assert result.returncode == exit_codes.ERROR
    assert "no collection 'dosc'; known: docs" in result.stderr


def test_a_missing_database_url_says_what_to_set(environment: dict[str, str]) -> None:
    del environment["LLMWIKI_DATABASE_URL"]
    result = run_module("jobs.lint_pass", environment=environment)
    assert result.returncode == exit_codes.ERROR
    assert "LLMWIKI_DATABASE_URL" in result.stderr


def test_an_empty_folder_never_empties_the_wiki(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    wiki.night()
    write_tree(wiki.folder, {})
    assert wiki.night().facts["drain"]["compiled"] == 0
    assert wiki.rows("SELECT count(*) FROM page WHERE retired_at IS NULL") == [(4,)]


def test_pages_are_never_embedded_by_another_embedder_than_their_collection(wiki: Wiki) -> None:
    wiki.ingest(FILES)
    other = Wiki(wiki.engine, wiki.folder, wiki.settings)
    other.app.embedder = HashingEmbedder(dimension=32)
    other.collection = wiki.collection
    result = other.night()
    assert result.exit_code == exit_codes.ERROR
    assert "llmwiki reembed --collection docs" in result.facts["drain"]["error"]
    assert wiki.rows("SELECT DISTINCT vector_dims(vector) FROM embedding") == [(256,)]


def test_a_database_that_goes_away_is_told_in_one_line(
    wiki: Wiki, environment: dict[str, str]
) -> None:
    wiki.ingest(FILES)
    wiki.change(
        """CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$"""
    )
    wiki.change(
        """CREATE TRIGGER away BEFORE INSERT ON record
           FOR EACH ROW EXECUTE FUNCTION end_session()"""
    )
    result = run_module("jobs.drift_sweep", environment=environment)
    assert result.returncode == exit_codes.ERROR
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("llmwiki: ")]
    assert "the database ended the connection" in line
    assert "INSERT" not in result.stderr


def test_a_page_may_become_much_shorter_where_its_sources_were_rewritten(wiki: Wiki) -> None:
    other = {"other.md": f"# Other\n\n{prose('other')}\n"}
    wiki.ingest({"log.md": f"# Log\n\n{prose('entry', 80)}\n", **other})
    wiki.night()
    items = "\n".join(f"- {prose(f'item{number}', 3)}" for number in range(30))
    wiki.ingest({"log.md": f"# Log\n\nThis is the log.\n\n{items}\n", **other})
    result = wiki.night()
    assert result.facts["drain"]["failed"] == 0
    assert wiki.stale() == {}
