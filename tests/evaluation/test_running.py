from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from llmwiki.domain import Usage
from llmwiki.evaluation.retrieved import RankedChunk, Retrieved
from llmwiki.evaluation.running import Needs, Trial, rank_documents, run_queries
from tests.evaluation.conftest import chunk, make_dataset
from tests.providers.conftest import FakeClock

DATASET = make_dataset({"q": [("A", 1, "f")]})
IDS = {"a.md": "A", "b.md": "B", "c.md": "C"}


class Scripted:
    """Answers with the first chunks of a list, and takes its time."""

    def __init__(self, clock: FakeClock, chunks: Sequence[RankedChunk]) -> None:
        self.clock = clock
        self.chunks = chunks
        self.limits: list[int] = []

    def __call__(self, question: str, *, limit: int) -> Retrieved:
        assert question == "What of q?"
        self.limits.append(limit)
        self.clock.sleep(0.25 * len(self.limits))
        return Retrieved(
            chunks=tuple(self.chunks[:limit]),
            documents=frozenset({"c.md", "a.md"}),
            usage=Usage(chat_calls=len(self.limits)),
        )


def test_a_question_is_asked_for_each_context_and_for_the_ranking() -> None:
    clock = FakeClock()
    ask = Scripted(clock, [chunk(number, f"{number}.md") for number in range(60)])
    trial = Trial(name="mine", retriever=ask, ids=IDS)
    run = run_queries(trial, DATASET, clock, Needs(depth=30))
    assert ask.limits == [10, 4, 30]
    answer = run.answers["q"]
    assert len(answer.ranking) == 30
    assert len(answer.contexts[10].ranking) == 10
    assert len(answer.contexts[4].ranking) == 4


def test_what_no_measure_needs_is_not_asked_for() -> None:
    clock = FakeClock()
    ask = Scripted(clock, [chunk(1, "a.md")])
    trial = Trial(name="mine", retriever=ask, ids=IDS)
    answer = run_queries(trial, DATASET, clock, Needs(contexts=(), depth=None)).answers["q"]
    assert ask.limits == [10]
    assert [document.id for document in answer.ranking] == ["A"]
    assert answer.contexts.keys() == {10}


def test_the_first_time_is_what_is_timed_and_counted() -> None:
    clock = FakeClock()
    trial = Trial(name="mine", retriever=Scripted(clock, []), ids=IDS)
    run = run_queries(trial, DATASET, clock, Needs())
    assert run.answers["q"].milliseconds == 250
    assert run.answers["q"].retrieved.usage.chat_calls == 1


def test_documents_that_only_the_rest_of_the_context_holds_are_told_apart() -> None:
    clock = FakeClock()
    ask = Scripted(clock, [chunk(1, "b.md"), chunk(2, "a.md")])
    trial = Trial(name="mine", retriever=ask, ids=IDS)
    answer = run_queries(trial, DATASET, clock, Needs()).answers["q"]
    assert answer.contexts[4].ranking == ("B", "A")
    assert answer.contexts[4].added == ("C",)


def test_progress_is_told_question_by_question() -> None:
    clock = FakeClock()
    told: list[tuple[str, int, int]] = []
    trial = Trial(name="mine", retriever=Scripted(clock, []), ids=IDS)
    run_queries(trial, DATASET, clock, Needs(), progress=lambda *step: told.append(step))
    assert told == [("small: mine", 1, 1)]


def test_a_document_stands_where_its_best_chunk_does() -> None:
    chunks = [chunk(5, "b.md", 3.0), chunk(1, "a.md", 2.0), chunk(2, "b.md", 1.0)]
    ranking = rank_documents(chunks, IDS)
    assert [(document.id, document.score) for document in ranking] == [("B", 3.0), ("A", 2.0)]


def test_a_document_that_the_dataset_does_not_know_keeps_its_place() -> None:
    chunks = [chunk(1, "other.md"), chunk(2, "a.md")]
    assert [document.id for document in rank_documents(chunks, IDS)] == ["other.md", "A"]


@given(st.lists(st.tuples(st.sampled_from(list(IDS)), st.floats(0, 1))))
def test_the_ranking_follows_from_the_order_of_chunks_and_nothing_else(
    rows: list[tuple[str, float]],
) -> None:
    chunks = [chunk(number, path, score) for number, (path, score) in enumerate(rows)]
    ranking = rank_documents(chunks, IDS)
    assert ranking == rank_documents(chunks, dict(reversed(IDS.items())))
    assert [document.id for document in ranking] == list(
        dict.fromkeys(IDS[path] for path, _ in rows)
    )
    equal = [chunk(number, path) for number, (path, _) in enumerate(rows)]
    same_order = [document.id for document in rank_documents(equal, IDS)]
    assert same_order == [document.id for document in ranking]
