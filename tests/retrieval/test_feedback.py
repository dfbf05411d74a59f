import pytest
from sqlalchemy import Engine

from llmwiki.config import RetrievalSettings
from llmwiki.providers.clock import SystemClock
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import Event
from llmwiki.retrieval.feedback import FeedbackDetail, choose_words, relevance_model
from llmwiki.retrieval.service import retrieve
from tests.retrieval.conftest import Ingest
from tests.support.candidates import candidate

BIRDS = {
    "first.md": "# One\n\nThe kestrel hovers above meadows, and meadows feed it: it hunts voles.\n",
    "second.md": "# Two\n\nAbove meadows the kestrel hovers. Meadows are where it hunts voles.\n",
    "short.md": "# Three\n\nA kestrel was painted.\n",
    "long.md": "# Four\n\nHow a kestrel was seen as it hovers there and later hunts fat voles.\n",
    "other.md": "# Five\n\nRust has traits, and Go has channels.\n",
}
QUESTION = "the kestrel of the meadows"


def find(engine: Engine, question: str, **settings: object) -> tuple[list[str], Event]:
    chosen = {"weights": {"dense": 0.0}, **settings}
    context: Context = retrieve(
        Parts(
            engine=engine,
            embedder=HashingEmbedder(),
            clock=SystemClock(),
            settings=RetrievalSettings.model_validate(chosen),
        ),
        question,
    )
    [ending] = [
        each for each in context.events if each.step == "feedback" and each.status != "active"
    ]
    return [each.chunk.document_path for each in context.ranking], ending


def test_words_of_the_best_chunks_tell_the_others_apart(engine: Engine, ingest: Ingest) -> None:
    ingest(BIRDS)
    before, off = find(engine, QUESTION, feedback={"weight": 0.0})
    after, done = find(engine, QUESTION, feedback={"fewest_words": 2})
    assert off.reason == "off"
    assert before.index("short.md") < before.index("long.md")
    assert after.index("long.md") < after.index("short.md")
    assert isinstance(done.detail, FeedbackDetail)
    assert {"vole", "hunt", "hover"} <= set(done.detail.lexemes)
    assert not {"kestrel", "meadow", "paint"} & set(done.detail.lexemes)
    # Nothing is searched for again: who shares no word with the question stays away.
    assert set(after) == set(before) == {"first.md", "second.md", "short.md", "long.md"}


def test_a_question_of_few_words_is_left_as_it_is(engine: Engine, ingest: Ingest) -> None:
    ingest(BIRDS)
    before, _ = find(engine, QUESTION, feedback={"weight": 0.0})
    after, skipped = find(engine, QUESTION)
    assert after == before
    assert (skipped.status, skipped.reason) == ("skipped", "gate")
    assert skipped.message == "2 words of the question are known, 16 needed"


@pytest.mark.parametrize("fusion", ["rrf", "min-max"])
def test_a_fusion_that_takes_no_completed_scores_takes_no_words(
    engine: Engine, ingest: Ingest, fusion: str
) -> None:
    ingest(BIRDS)
    _, skipped = find(engine, QUESTION, feedback={"fewest_words": 0}, fusion=fusion)
    assert (skipped.status, skipped.reason) == ("skipped", "off")


@pytest.mark.parametrize("question", ["trumpets", "channels"])
def test_what_no_second_chunk_holds_is_no_word(
    engine: Engine, ingest: Ingest, question: str
) -> None:
    ingest(BIRDS)
    _, skipped = find(engine, question, feedback={"fewest_words": 0})
    assert (skipped.status, skipped.reason) == ("skipped", "no-words")


def test_a_chunk_counts_by_its_score_and_a_word_by_its_share() -> None:
    best = [candidate(1, fused=1.0), candidate(2, fused=1.0), candidate(3, fused=-50.0)]
    held = {
        best[0].id: {"vole": 1, "hunt": 3},
        best[1].id: {"vole": 1, "wind": 1},
        best[2].id: {"wind": 1},
    }
    model = relevance_model(best, held)
    assert model["vole"] == pytest.approx(0.5 * 0.25 + 0.5 * 0.5)
    assert model["wind"] == pytest.approx(0.25, abs=1e-9)
    assert "hunt" not in model


def test_the_weightiest_words_are_chosen_and_ties_go_by_the_alphabet() -> None:
    scores = {"b": 1.0, "a": 1.0, "c": 2.0, "d": 0.0}
    assert list(choose_words(scores, 2)) == ["c", "a"]
    assert list(choose_words(scores, 9)) == ["c", "a", "b"]
