from pathlib import Path

import pytest
from sqlalchemy import Engine

from llmwiki.answering.service import answer_question
from llmwiki.ingest.foreign_questions import FOREIGN_QUESTIONS
from llmwiki.retrieval.service import retrieve
from tests.support.questions import ending, station

OWN = (
    "How long is a backup kept?",
    "Who gets the mail of an alert when a disk is full?",
    "How is a wind probe calibrated?",
    "What does an amber light of the station mean?",
    "How do I restore a backup from an archive?",
)


def test_questions_about_the_corpus_have_evidence_and_foreign_ones_have_none(
    engine: Engine, tmp_path: Path
) -> None:
    wiki = station(engine, tmp_path)
    for question in OWN:
        assert retrieve(wiki.app.retrieval, question).has_evidence, question
    foreign = [retrieve(wiki.app.retrieval, question) for question in FOREIGN_QUESTIONS[::4]]
    refused = [context for context in foreign if not context.has_evidence]
    assert len(refused) >= 0.9 * len(foreign)
    assert all(context.blocks for context in foreign)


def test_a_question_without_evidence_is_told_to_be_outside_the_corpus(
    engine: Engine, tmp_path: Path
) -> None:
    wiki = station(engine, tmp_path)
    answer = answer_question(wiki.app.answering, "Who composed the opera about a barber?")
    assert answer.method == "not-in-corpus"
    detail = ending(answer.events, "evidence").facts()["detail"]
    assert detail["best"] < detail["needed"]
    assert ending(answer.events, "answer").reason == "no-evidence"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE collection SET evidence_levels = NULL", "not-calibrated"),
        ("DELETE FROM embedding", "no-vector"),
    ],
)
def test_where_it_cannot_be_told_evidence_is_taken_for_granted(
    engine: Engine, tmp_path: Path, change: str, reason: str
) -> None:
    wiki = station(engine, tmp_path)
    wiki.change(change)
    context = retrieve(wiki.app.retrieval, OWN[0])
    assert context.has_evidence
    assert ending(context.events, "evidence").reason == reason
