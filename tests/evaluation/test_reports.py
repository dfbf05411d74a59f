import json
from dataclasses import replace
from pathlib import Path

import pytest

from llmwiki.config import RerankSettings
from llmwiki.errors import UsageError
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.evaluation import Evaluation
from llmwiki.evaluation.plots import draw
from llmwiki.evaluation.report_files import prepare_folder, write_report
from llmwiki.evaluation.report_json import SCHEMA_VERSION, report_facts, transcripts
from llmwiki.evaluation.report_markdown import BETTER, WORSE, report_markdown
from tests.evaluation.test_service import run, task


def test_the_report_for_machines_has_every_question_and_a_version() -> None:
    facts = json.loads(json.dumps(report_facts(run("good", "poor", reference="good"))))
    assert facts["schema_version"] == SCHEMA_VERSION
    assert facts["datasets"][0]["questions"] == 12
    good = facts["scores"][0]
    assert good["measures"]["nDCG@10"] == {"mean": 1, "low": 1, "high": 1, "questions": 12}
    assert good["measures"]["witness_authority"]["mean"] is None
    assert good["questions"]["q3"]["complete@4"] == 1
    assert facts["reference"] == "good"
    assert facts["differences"][0]["significant"] in (True, False)


def test_no_secret_is_in_the_report() -> None:
    secret = RerankSettings.model_validate({"api_key": "hidden"})
    changed = Configuration(name="good", rerank=secret)
    evaluation = replace(run("good"), configurations=(changed,))
    told = json.dumps(report_facts(evaluation))
    assert "hidden" not in told
    assert "api_key" not in told


def test_a_transcript_tells_question_ranking_and_events() -> None:
    [first, *rest] = transcripts(run("good").runs)
    assert len(rest) == 11
    assert first["question"] == "What of q0?"
    assert [document["id"] for document in first["ranking"]] == ["a", "b", "c"]
    assert first["contexts"][4] == {"ranking": ["a", "b", "c"], "added": []}
    assert first["events"][1]["reason"] == "quota"


def test_many_measures_are_columns_of_one_table() -> None:
    told = report_markdown(run("good", tasks=[task("one"), task("two")]))
    assert "| dataset | configuration | nDCG@10 |" in told
    assert "| one | good | 1.0000 |" in told
    assert "| all | good | 1.0000 |" in told
    assert "| n/a |" in told
    assert "dense 12 skipped: quota" in told


def test_few_measures_are_a_grid_each_with_marks() -> None:
    def few(*names: str, datasets: str) -> str:
        evaluation = run(*names, tasks=[task(name) for name in datasets], reference=names[0])
        return report_markdown(replace(evaluation, measures=("nDCG@10",)))

    worse = few("good", "poor", datasets="ab")
    assert "## nDCG@10\n\n| configuration | a | b | all |" in worse
    assert f"| poor | 0.6934 {WORSE} | 0.6934 {WORSE} | 0.6934 {WORSE} |" in worse
    assert "## Differences from good" in worse
    better = few("poor", "good", datasets="a")
    assert f"| good | 1.0000 {BETTER} |" in better
    assert "12 / 0 / 0" in better


def test_a_bar_in_a_name_does_not_break_a_table() -> None:
    told = report_markdown(run("good", tasks=[task("a|b\nc")]))
    assert "| a\\|b c |" in told


def small() -> Evaluation:
    """An evaluation of two measures, since drawing takes its time."""
    evaluation = run("good", "poor", reference="good")
    return replace(evaluation, measures=("nDCG@10", "witness_authority"))


def test_plots_are_drawn_and_equal_ones_are_equal_files() -> None:
    evaluation = small()
    plots = dict(draw(evaluation))
    assert plots == dict(draw(evaluation))
    assert "means-nDCG-at-10.svg" in plots
    assert "gains-poor-one.svg" in plots
    assert "means-witness_authority.svg" not in plots
    assert all(plot.startswith("<?xml") for plot in plots.values())


def test_a_report_is_a_folder_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "report"
    prepare_folder(folder)
    paths = write_report(folder, small())
    assert {path.name for path in paths} >= {"report.md", "report.json", "transcripts.jsonl"}
    assert "![gains-poor-one.svg](gains-poor-one.svg)" in (folder / "report.md").read_text()
    lines = (folder / "transcripts.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 24
    assert json.loads((folder / "report.json").read_text())["schema_version"] == SCHEMA_VERSION


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="name a folder to write to"):
        prepare_folder(file / "report")
    with pytest.raises(UsageError, match="name a folder to write to"):
        prepare_folder(file)
    with pytest.raises(UsageError, match="cannot be written to"):
        write_report(tmp_path / "missing", small())
