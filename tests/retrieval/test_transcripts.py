"""Golden transcripts: a few questions with everything that their steps say of themselves.

A difference is a change of behaviour. When it is meant, run with --rewrite-transcripts, read the
difference of the files, and commit them.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from llmwiki.answering.service import answer_question
from llmwiki.store import promotions
from tests.support.chat_server import ChatServer
from tests.support.questions import station
from tests.support.wiki import Wiki

FOLDER = Path(__file__).parent / "transcripts"
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d")

PLAN = """\
name: safe restore
when:
  - [restore, restoring]
  - [safely, safe]
families:
  - name: procedure
    match: {source: ["guide/backup.md"]}
    rescue: restore a backup from an archive
  - name: permissions
    match: {source: ["security/**"]}
    rescue: permission to restore archives
"""


def compiled(wiki: Wiki) -> Wiki:
    wiki.night()
    assert wiki.collection is not None
    with wiki.engine.connect() as connection:
        promotions.promote(connection, wiki.collection)
        connection.commit()
    return wiki


def transcript(wiki: Wiki, question: str) -> dict[str, Any]:
    answer = answer_question(wiki.app.answering, question)
    return {
        "question": question,
        "method": answer.method,
        "reason": answer.reason,
        "answer": [statement.text for statement in answer.statements],
        "missing_families": list(answer.context.missing_families),
        "blocks": [block.citation for block in answer.context.blocks],
        "pages": [page.page.slug for page in answer.context.pages],
        "events": [_timeless(event.facts()) for event in answer.events],
    }


def _timeless(value: object) -> object:
    """Leave out what differs from run to run, and round what differs from machine to machine."""
    if isinstance(value, dict):
        untold = {"at_ms", "duration_ms", "resets_at"}
        return {key: _timeless(each) for key, each in value.items() if key not in untold}
    if isinstance(value, list | tuple):
        return [_timeless(each) for each in value]
    if isinstance(value, str):
        return MOMENT.sub("<moment>", value)
    return round(value, 2) if isinstance(value, float) else value


def check(name: str, found: dict[str, Any], request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{name}.json"
    if request.config.getoption("--rewrite-transcripts"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(file.read_text(encoding="utf-8"))


def test_a_narrow_question_without_a_model(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    check("narrow", transcript(station(engine, tmp_path), "How long is a backup kept?"), request)


def test_an_identifier_with_the_wiki_at_its_side(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wiki = compiled(station(engine, tmp_path))
    check("identifier", transcript(wiki, "What does `max_age` do?"), request)


def test_a_broad_question_with_a_model(
    engine: Engine, tmp_path: Path, server: ChatServer, request: pytest.FixtureRequest
) -> None:
    wiki = station(engine, tmp_path, server)
    check("broad", transcript(wiki, "How do I use the station?"), request)


def test_a_broad_question_on_a_day_without_calls(
    engine: Engine, tmp_path: Path, server: ChatServer, request: pytest.FixtureRequest
) -> None:
    wiki = station(engine, tmp_path, server, budget={"chat_calls_per_day": 0})
    check("no-calls", transcript(wiki, "How do I use the station?"), request)


def test_a_question_from_elsewhere(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wiki = station(engine, tmp_path)
    check("elsewhere", transcript(wiki, "Who composed the opera about a barber?"), request)


def test_a_plan_whose_second_family_the_corpus_lacks(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "restore.yaml").write_text(PLAN)
    wiki = station(engine, tmp_path / "docs", retrieval={"plans": plans})
    question = "How do I restore a backup safely?"
    found = transcript(wiki, question)
    assert found["missing_families"] == ["permissions"]
    check("missing-family", found, request)
