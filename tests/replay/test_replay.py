"""The sweep marks exactly the pages that a brute-force comparison of two trees says it must."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.store.engine import Database
from tests.replay.driver import rebuild, repeat, replay_history
from tests.replay.edits import NIGHTS, SINGLE_NIGHTS
from tests.replay.histories import clone
from tests.replay.nights import Replay
from tests.replay.replay import open_app
from tests.replay.synthetic import restore_tree


def test_a_second_night_over_the_same_folder_changes_no_row(run: Replay) -> None:
    assert repeat(run) == []


def test_every_kind_of_edit_marks_what_it_must_and_nothing_else(run: Replay) -> None:
    for number, night in enumerate(NIGHTS, start=2):
        night.edit(run.folder)
        report = run.take_over(number)
        given = {page.slug: page.reasons for page in run.observe() if page.reasons}
        assert (night.name, given) == (night.name, dict(night.marks))
        assert (night.name, report.judgement.retired) == (night.name, night.retired)
        run.compile(report)
        assert (night.name, report.faults) == (night.name, [])
        judgement = report.judgement
        assert (night.name, judgement.needless, judgement.kept_apart) == (night.name, 0, ())
    comparison = rebuild(run)
    assert comparison.differences == ()


def test_an_edit_of_the_first_tree_marks_what_it_must_and_nothing_else(run: Replay) -> None:
    for night in SINGLE_NIGHTS:
        restore_tree(run.folder)
        run.compile(run.take_over(1))
        night.edit(run.folder)
        report = run.take_over(2)
        given = {page.slug: page.reasons for page in run.observe() if page.reasons}
        assert (night.name, given) == (night.name, dict(night.marks))
        assert (night.name, report.judgement.retired) == (night.name, night.retired)
        run.compile(report)
        assert (night.name, report.faults) == (night.name, [])
        judgement = report.judgement
        assert (night.name, judgement.needless, judgement.kept_apart) == (night.name, 0, ())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.corpora(name))
        for name in ("fastapi-docs", "opentelemetry-docs", "ragflow-docs")
    ],
)
def test_real_nights(name: str, engine: Engine, corpus_bundle: Path, tmp_path: Path) -> None:
    app = open_app(Database(engine=engine), "hashing")
    report = replay_history(app, clone(corpus_bundle, tmp_path / name), nights=12, every=5)
    assert report.faults == []
    assert report.comparison is not None
    assert report.comparison.differences == ()
