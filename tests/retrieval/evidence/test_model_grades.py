import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.config import BudgetSettings, RetrievalSettings, Settings
from llmwiki.retrieval.evidence.details import GradeDetail
from llmwiki.retrieval.evidence.plan_files import PlanLibrary, load_plans
from tests.retrieval.evidence.pipeline import Walk, walk
from tests.support.chat_server import Answer, ChatServer
from tests.support.cluster_docs import CLUSTER_DOCS, PLAN, QUESTION
from tests.support.questions import generator_of
from tests.support.wiki import HASHING, Wiki

ALL_OK = json.dumps({"grades": [{"family": f"f{number}", "grade": "ok"} for number in (1, 2, 3)]})
NO_ROLES = ALL_OK.replace('"f3", "grade": "ok"', '"f3", "grade": "missing"')


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(lambda _request: ALL_OK) as running:
        yield running


@pytest.fixture
def plans(tmp_path: Path) -> PlanLibrary:
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "a.yaml").write_text(PLAN)
    return load_plans(folder)


def cluster(engine: Engine, tmp_path: Path, server: ChatServer | None, **budget: int) -> Wiki:
    settings = Settings(
        embedder=HASHING,
        generator=generator_of(server),
        budget=BudgetSettings.model_validate(budget),
        retrieval=RetrievalSettings(grade_with_model=True),
    )
    (tmp_path / "docs").mkdir(exist_ok=True)
    wiki = Wiki(engine, tmp_path / "docs", settings)
    wiki.ingest(CLUSTER_DOCS)
    return wiki


def grade_of(taken: Walk) -> GradeDetail:
    detail = taken.ended("grade").detail
    assert isinstance(detail, GradeDetail)
    return detail


def test_one_call_grades_all_families_and_is_counted_and_kept(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary
) -> None:
    wiki = cluster(engine, tmp_path, server)
    taken = walk(wiki.app.retrieval, QUESTION, plans)
    assert grade_of(taken).method == "model"
    assert taken.ended("grade").usage.chat_calls == 1
    assert server.requests == 1
    assert wiki.rows("SELECT budget, used FROM budget_day") == [("chat", 1)]
    assert wiki.rows("SELECT purpose, subject FROM call") == [("question", "grade")]
    again = walk(wiki.app.retrieval, f" {QUESTION.upper()} ", plans)
    assert grade_of(again).from_cache
    assert again.ended("grade").usage.chat_calls == 0
    assert server.requests == 1


def test_what_the_model_calls_missing_is_missing(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary
) -> None:
    server.enqueue(NO_ROLES)
    taken = walk(cluster(engine, tmp_path, server).app.retrieval, QUESTION, plans)
    assert taken.restored.missing == ("RBAC",)


def test_a_new_text_of_a_witness_is_graded_anew(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary
) -> None:
    wiki = cluster(engine, tmp_path, server)
    walk(wiki.app.retrieval, QUESTION, plans)
    wiki.ingest({path: text.replace("API", "cluster's") for path, text in CLUSTER_DOCS.items()})
    walk(wiki.app.retrieval, QUESTION, plans)
    assert server.requests == 2


def test_without_a_call_left_the_free_grades_stand(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary
) -> None:
    wiki = cluster(engine, tmp_path, server, chat_calls_per_day=0, chat_calls_per_night=0)
    taken = walk(wiki.app.retrieval, QUESTION, plans)
    assert taken.ended("grade").status == "done"
    assert grade_of(taken).method == "overlap"
    assert "budget chat" in (grade_of(taken).without_model or "")
    assert taken.restored.missing == ()
    assert server.requests == 0


@pytest.mark.parametrize(
    "answer", ["I cannot say.", Answer(status=400, body={"error": {"message": "no"}})]
)
def test_an_answer_that_cannot_be_used_is_told_and_the_free_grades_stand(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary, answer: Answer | str
) -> None:
    server.answerer = lambda _request: answer
    wiki = cluster(engine, tmp_path, server)
    taken = walk(wiki.app.retrieval, QUESTION, plans)
    assert taken.ended("grade").status == "error"
    assert taken.ended("grade").usage.chat_calls == 1
    assert grade_of(taken).method == "overlap"
    assert taken.restored.missing == ()
    assert wiki.rows("SELECT kind FROM kept_answer") == []


def test_without_a_model_the_event_says_so(
    engine: Engine, tmp_path: Path, plans: PlanLibrary
) -> None:
    taken = walk(cluster(engine, tmp_path, None).app.retrieval, QUESTION, plans)
    assert grade_of(taken).without_model == "no model is configured"


def test_automatic_families_cost_no_call(
    engine: Engine, tmp_path: Path, server: ChatServer
) -> None:
    parts = cluster(engine, tmp_path, server).app.retrieval
    taken = walk(parts, "Do probes or volumes need a Pod?")
    assert grade_of(taken).method == "overlap"
    assert server.requests == 0


def test_a_kept_value_of_another_form_is_asked_for_again(
    engine: Engine, tmp_path: Path, server: ChatServer, plans: PlanLibrary
) -> None:
    wiki = cluster(engine, tmp_path, server)
    walk(wiki.app.retrieval, QUESTION, plans)
    wiki.change('UPDATE kept_answer SET value = \'{"grades": ["fine", 7, null]}\'')
    assert grade_of(walk(wiki.app.retrieval, QUESTION, plans)).from_cache is False
    assert server.requests == 2
