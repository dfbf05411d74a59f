import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.evaluation.conftest import DatasetFolder

HANDBOOK_QUERIES = [{"_id": "q", "text": "When is a full backup made?"}]
HANDBOOK_JUDGMENTS = "query-id\tcorpus-id\tscore\nq\tguide/backup.md\t1\n"


@pytest.fixture
def dataset_folder(tmp_path: Path) -> DatasetFolder:
    return DatasetFolder(tmp_path / "datasets")


@pytest.fixture
def small(dataset_folder: DatasetFolder) -> str:
    return str(dataset_folder())


def test_a_dataset_is_ingested_asked_and_measured(command: Command, small: str) -> None:
    outcome = command("evaluate", small)
    assert outcome.code == 0, outcome.stderr
    assert "| small | 3 | 2 | 0 | 1.5 |" in outcome.stdout
    assert "| dataset | configuration | nDCG@10 | R@10 |" in outcome.stdout
    again = command("evaluate", small, "--json").document
    assert again["datasets"][0]["owner"] == "evaluation"
    assert again["scores"][0]["measures"]["R@10"]["mean"] == 1


def test_the_collection_is_no_work_for_the_night(command: Command, small: str) -> None:
    command("evaluate", small)
    night = command("nightly", "--json").document
    assert night["drain"]["compiled"] == 0
    assert night["exit_code"] == 0


def test_with_topics_the_night_compiles_a_wiki_that_can_be_compared(
    command: Command, small: str
) -> None:
    assert command("evaluate", small, "--with-topics").code == 0
    assert command("nightly", "--json").document["drain"]["compiled"] > 0
    document = command("evaluate", small, "--with-topics", "--table", "wiki", "--json").document
    off, on = document["scores"]
    assert (off["configuration"], on["configuration"]) == ("wiki off", "wiki on")
    for question, values in off["questions"].items():
        assert on["questions"][question]["context_recall@10"] >= values["context_recall@10"]


def test_settings_are_compared_with_those_of_the_reference(command: Command, small: str) -> None:
    document = command("evaluate", small, "--set", "wiki=off", "--compare", "fusion=rrf", "--json")
    facts = document.document
    assert facts["reference"] == "fusion=rrf"
    assert [each["name"] for each in facts["configurations"]] == ["fusion=rrf", "wiki=off"]
    assert facts["configurations"][0]["retrieval"]["fusion"] == "rrf"
    assert {each["configuration"] for each in facts["differences"]} == {"wiki=off"}


def test_a_table_has_a_row_for_each_of_its_configurations(command: Command, small: str) -> None:
    outcome = command("evaluate", small, "--table", "fusion")
    assert outcome.code == 0
    for row in ("dense alone", "lexical alone", "rrf", "min-max", "convex", "completed-zscore"):
        assert f"\n| {row} | " in outcome.stdout


def test_an_ordinary_dataset_may_stand_alone_and_none_is_refused(
    command: Command, small: str
) -> None:
    assert command("evaluate", "--ordinary", small).code == 0
    outcome = command("evaluate")
    assert outcome.code == 2
    assert "no dataset is given" in outcome.stderr


def test_several_datasets_and_ordinary_ones_are_measured_together(
    command: Command, dataset_folder: DatasetFolder
) -> None:
    first, second = dataset_folder(name="first"), dataset_folder(name="second")
    facts = command("evaluate", str(first), "--ordinary", str(second), "--json").document
    assert [(each["name"], each["ordinary"]) for each in facts["datasets"]] == [
        ("first", False),
        ("second", True),
    ]
    assert facts["scores"][1]["measures"]["complete@4"]["mean"] is None
    assert facts["scores"][1]["measures"]["false_family"]["mean"] == 0


def test_an_existing_collection_is_asked_by_the_paths_of_its_documents(
    command: Command, ingested: Path, dataset_folder: DatasetFolder
) -> None:
    assert ingested.is_dir()
    folder = dataset_folder(corpus=None, queries=HANDBOOK_QUERIES, judgments=HANDBOOK_JUDGMENTS)
    facts = command("evaluate", str(folder), "--collection", "handbook", "--json").document
    assert facts["datasets"][0]["collection"] == "handbook"
    assert facts["scores"][0]["measures"]["R@10"]["mean"] == 1


def test_a_minimum_that_is_missed_ends_with_1_and_names_what_failed(
    command: Command, small: str
) -> None:
    assert command("evaluate", small, "--min", "R@10=0.9").code == 0
    outcome = command(
        "evaluate", small, "--min", "R@10=0.9", "--min", "small:witness_authority=0.5"
    )
    assert outcome.code == 1
    assert (
        "small: witness_authority of configured is not defined, below the minimum of 0.5\n"
        in outcome.stderr
    )
    assert "R@10 of" not in outcome.stderr


def test_the_report_is_written_where_it_is_wanted(
    command: Command, small: str, tmp_path: Path
) -> None:
    folder = tmp_path / "report"
    outcome = command("evaluate", small, "--report", str(folder), "--compare", "fusion=rrf")
    assert outcome.code == 0
    assert f"written: {folder / 'report.json'}\n" in outcome.stderr
    [first, *_] = (folder / "transcripts.jsonl").read_text().splitlines()
    assert json.loads(first)["configuration"] == "fusion=rrf"
    assert list(folder.glob("*.svg"))


def test_a_document_that_cannot_be_loaded_ends_with_1_and_is_named(
    command: Command, dataset_folder: DatasetFolder
) -> None:
    corpus: list[dict[str, object]] = [
        {"_id": "backup", "text": "A backup on Sunday."},
        {"_id": "alerts", "text": "A disk.", "metadata": {"long": "x" * 100_000}},
    ]
    outcome = command("evaluate", str(dataset_folder(corpus=corpus)))
    assert outcome.code == 1
    assert "small: alerts-" in outcome.stderr
    assert "| small | 2 | 2 |" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "fusion=best"], "retrieval.fusion"),
        (["--table", "none"], "there is no table 'none'; tables are fusion"),
        (["--table", "fusion", "--compare", "fusion=rrf"], "leave out --compare"),
        (["--min", "nDCG=0.5"], "measures are nDCG@10"),
        (["--min", "other:R@10=0.5"], "names the dataset 'other'"),
        (["--collection", "none"], "no collection 'none'"),
        (["--set", "rerank.provider=cohere", "--set", "rerank.model=m"], "add --spend"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is_run(
    command: Command, small: str, arguments: list[str], told: str
) -> None:
    outcome = command("evaluate", small, *arguments)
    assert outcome.code == 2
    assert told in outcome.stderr
    assert outcome.stdout == ""


def test_a_library_that_is_missing_is_told_before_anything_is_run(
    command: Command, small: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert command("evaluate", small).code == 0
    outcome = command("evaluate", small, "--report", str(tmp_path / "report"))
    assert outcome.code == 2
    assert "needs matplotlib, which is not installed" in outcome.stderr
    assert not (tmp_path / "report").exists()


def test_two_datasets_of_one_name_are_refused(
    command: Command, dataset_folder: DatasetFolder, small: str
) -> None:
    other = dataset_folder(name="elsewhere/small")
    outcome = command("evaluate", small, str(other))
    assert outcome.code == 2
    assert "two are called 'small'" in outcome.stderr
