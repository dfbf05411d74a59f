from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import text

from llmwiki.config import BlendWeights, RerankSettings, RetrievalSettings
from llmwiki.domain import Usage
from llmwiki.errors import UsageError
from llmwiki.retrieval.blend import QuestionWords
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.rerank import RerankDetail
from tests.support.candidates import candidate, ordered
from tests.support.reranking import Session, Stub, backwards, forwards
from tests.support.wiki import Wiki


def test_without_a_reranker_the_fused_order_stands_and_the_event_names_the_z_scores(
    session: Session,
) -> None:
    candidates = ordered("a", "b", "c")

    assert session.rank(candidates, 2) == candidates[:2]
    assert session.last.status == "done"
    assert session.detail == RerankDetail(method="zscore", input_chunks=3, output_chunks=2)
    assert session.last.usage == Usage()


def test_another_fusion_is_not_called_z_scores(session: Session) -> None:
    session.fusion = RetrievalSettings(fusion="rrf")

    session(ordered("a", "b"))

    assert (session.last.status, session.detail.method) == ("done", "identity")


@pytest.mark.parametrize(
    ("candidates", "reason"),
    [
        ((), "empty"),
        ((candidate(1),), "single-candidate"),
        ((candidate(1, tiers=["dense"]), candidate(2, tiers=["dense"])), "single-tier"),
    ],
)
def test_what_cannot_be_reordered_is_skipped_with_its_reason(
    session: Session, candidates: tuple[Candidate, ...], reason: str
) -> None:
    assert session.rank(candidates) == candidates
    assert (session.last.status, session.last.reason) == ("skipped", reason)


def test_a_reranker_is_not_asked_about_a_single_candidate(session: Session) -> None:
    stub = session.reranker = Stub(backwards)

    assert session([candidate(1)]) == [1]
    assert stub.asked == []
    assert session.last.reason == "single-candidate"


def test_a_reranker_orders_what_a_single_tier_found(session: Session) -> None:
    session.reranker = Stub(backwards)

    assert session([candidate(1, tiers=["lexical"]), candidate(2, tiers=["lexical"])]) == [2, 1]


def test_no_result_at_all_cannot_be_asked_for(session: Session) -> None:
    with pytest.raises(UsageError, match="top_n is 0"):
        session(ordered("a"), top_n=0)


def test_the_order_is_the_rerankers_and_the_event_names_it(session: Session) -> None:
    session.reranker = Stub(backwards, method="jina")

    assert session(ordered("a", "b", "c"), 2) == [3, 2]
    assert session.last.status == "done"
    assert session.detail == RerankDetail(
        method="jina", model="stub", input_chunks=3, output_chunks=2
    )
    assert session.last.usage == Usage(rerank_calls=1)


def test_chunks_are_read_below_their_headings(session: Session) -> None:
    stub = session.reranker = Stub(backwards)

    session(ordered("a", "b"))

    assert stub.asked == [["Document 1\na", "Document 2\nb"]]


def test_only_so_many_are_scored_and_the_others_follow(session: Session) -> None:
    stub = session.reranker = Stub(backwards)
    session.settings = session.settings.model_copy(update={"max_candidates": 3})

    assert session(ordered("a", "b", "c", "d", "e")) == [3, 2, 1, 4, 5]
    assert len(stub.asked[0]) == 3


def test_a_service_that_answers_with_the_best_ones_only_is_enough_if_no_more_are_wanted(
    session: Session,
) -> None:
    session.reranker = Stub(lambda _texts: [(3, 0.9), (1, 0.8)])
    candidates = ordered("a", "b", "c", "d")

    assert session(candidates, 2) == [4, 2]
    assert session(candidates, 3) == [1, 2, 3]
    assert session.last.error == "InvalidAnswerError"


def test_nothing_that_was_given_is_changed(session: Session) -> None:
    def spoil(texts: Sequence[str]) -> list[tuple[int, float]]:
        assert isinstance(texts, list)
        scores = backwards(texts)
        texts.clear()
        return scores

    session.reranker = Stub(spoil)
    candidates = list(ordered("a", "b", "c"))
    before = [replace(each) for each in candidates]

    session(candidates)

    assert candidates == before


def test_equal_chunks_keep_their_fused_order(session: Session) -> None:
    session.reranker = Stub(lambda texts: [(index, 0.5) for index in reversed(range(len(texts)))])
    same = [replace(each, chunk=replace(each.chunk, breadcrumb=())) for each in ordered(*"xxx")]

    assert session(same) == [1, 2, 3]
    assert session.last.status == "done"


def test_the_words_of_the_question_count(wiki: Wiki) -> None:
    wiki.ingest({"a.md": "# A\n\nA window opens.", "b.md": "# B\n\nThe retries are limited."})
    with wiki.engine.connect() as connection:
        found = connection.execute(
            text("SELECT id, text FROM chunk WHERE parent_id IS NOT NULL ORDER BY id")
        ).all()
    candidates = [candidate(row.id, row.text, fused=float(-rank)) for rank, row in enumerate(found)]
    session = Session(wiki.engine, Stub(forwards))
    session.settings = RerankSettings(
        weights=BlendWeights(rerank=0.1, fused=0.0, overlap=1.0, exact_token=0.0), deadline=20.0
    )
    first, second = (each.id for each in candidates)

    assert session(candidates) == [first, second]
    assert session(candidates, words=QuestionWords(lexemes={"retri": 2.0})) == [second, first]
