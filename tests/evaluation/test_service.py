from collections.abc import Sequence

import pytest

from llmwiki.domain import ChunkId, Collection, CollectionId, EmbedderIdentity, Usage
from llmwiki.errors import UsageError
from llmwiki.evaluation.comparison import ALL_DATASETS
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.corpus import LoadedCorpus
from llmwiki.evaluation.evaluation import Evaluation, Task, costs_of, steps_of
from llmwiki.evaluation.measures import MEASURES
from llmwiki.evaluation.retrieved import RankedChunk, Retrieved
from llmwiki.evaluation.service import Plan, evaluate
from tests.evaluation.conftest import make_answer, make_dataset
from tests.providers.conftest import FakeClock

EMBEDDER = EmbedderIdentity(name="hashing", dimension=4)
IDS = {"a.md": "a", "b.md": "b", "c.md": "c"}
ORDERS = {"good": ["a.md", "b.md", "c.md"], "poor": ["c.md", "b.md", "a.md"]}


def task(name: str, questions: int = 12) -> Task:
    rows = {f"q{number}": [("a", 1, "f"), ("b", 1, "g")] for number in range(questions)}
    collection = Collection(id=CollectionId(1), name=name, owner="evaluation", embedder=EMBEDDER)
    return Task(
        dataset=make_dataset(rows, name=name),
        corpus=LoadedCorpus(collection=collection, ids=IDS),
    )


class Ordered:
    """Finds the same documents in one order for every question."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    def __call__(self, question: str, *, limit: int) -> Retrieved:
        assert question
        found = [
            RankedChunk(chunk_id=ChunkId(number), document_path=path, score=-number)
            for number, path in enumerate(self.paths)
        ]
        return Retrieved(
            chunks=tuple(found[:limit]),
            documents=frozenset(self.paths[:limit]),
            events=(
                {"step": "dense", "status": "active"},
                {"step": "dense", "status": "skipped", "reason": "quota"},
            ),
        )


def run(*names: str, tasks: Sequence[Task] = (), reference: str | None = None) -> Evaluation:
    def open_retriever(configuration: Configuration, collection: Collection) -> Ordered:
        assert collection.owner == "evaluation"
        return Ordered(ORDERS[configuration.name])

    plan = Plan(
        tasks=tuple(tasks) or (task("one"),),
        configurations=tuple(Configuration(name=name) for name in names),
        reference=reference,
    )
    return evaluate(plan, open_retriever, EMBEDDER, FakeClock())


def test_every_configuration_is_measured_on_every_dataset() -> None:
    found = run("good", "poor", tasks=[task("one"), task("two")])
    assert [(scores.configuration, scores.dataset) for scores in found.scores] == [
        ("good", "one"),
        ("poor", "one"),
        ("good", "two"),
        ("poor", "two"),
    ]
    assert found.mean_of("good", "one", "nDCG@10") == 1
    assert found.scores_of("poor", "two").values.keys() == set(MEASURES)
    assert found.differences == ()


def test_configurations_are_compared_with_the_reference_on_each_dataset_and_over_all() -> None:
    found = run("good", "poor", tasks=[task("one"), task("two")], reference="good")
    assert {difference.configuration for difference in found.differences} == {"poor"}
    single = found.difference_of("poor", "one", "nDCG@10")
    pooled = found.difference_of("poor", ALL_DATASETS, "nDCG@10")
    assert single is not None
    assert pooled is not None
    assert single.gain < 0
    assert pooled.significant
    assert found.difference_of("good", "one", "nDCG@10") is None


def test_over_datasets_the_mean_is_of_their_means_as_far_as_they_have_the_measure() -> None:
    found = run("good", tasks=[task("one", 2), task("two", 50)])
    assert found.mean_over_datasets("good", "nDCG@10") == 1
    assert found.mean_over_datasets("good", "witness_authority") is None


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two are called 'one'; give each dataset"):
        run("good", tasks=[task("one"), task("one")])
    with pytest.raises(UsageError, match="two are called 'good'; give each configuration"):
        run("good", "good")


def test_how_steps_ended_is_counted() -> None:
    counts = steps_of(run("good").runs[0].answers.values())
    assert counts == {("dense", "skipped: quota"): 12}


def test_costs_are_means_of_questions_and_percentiles_of_times() -> None:
    retrieved = Retrieved(
        chunks=(), documents=frozenset(), usage=Usage(chat_calls=1, input_tokens=300)
    )
    costs = costs_of({"q": make_answer([]), "r": make_answer([], retrieved=retrieved)})
    assert (costs.chat_calls, costs.input_tokens, costs.rerank_calls) == (0.5, 150, 0)
    assert (costs.p50_ms, costs.p95_ms) == (1, 1)
