"""The report for machines."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.evaluation import DatasetScores, Evaluation, Task
from llmwiki.evaluation.measures import Values, summarise
from llmwiki.evaluation.running import CONTEXT_SIZES, Answer, Run
from llmwiki.evaluation.significance import PERMUTATIONS, SEED

SCHEMA_VERSION = 1
"""Raised when a key changes its meaning or goes."""


def report_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Return the evaluation as JSON values, question by question; no secret is among them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "created_at": evaluation.created_at.isoformat(),
        "embedder": asdict(evaluation.embedder),
        "depth": evaluation.depth,
        "context_sizes": sorted(CONTEXT_SIZES),
        "permutations": PERMUTATIONS,
        "seed": SEED,
        "datasets": [_dataset_facts(task) for task in evaluation.tasks],
        "configurations": [_configuration_facts(each) for each in evaluation.configurations],
        "scores": [_score_facts(scores) for scores in evaluation.scores],
        "reference": evaluation.reference,
        "differences": [
            {
                **asdict(difference),
                "gain": difference.gain,
                "significant": difference.significant,
            }
            for difference in evaluation.differences
        ],
    }


def transcripts(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """Yield what happened to each question in each configuration."""
    for run in runs:
        texts = {query.id: query.text for query in run.dataset.queries}
        for query_id, answer in run.answers.items():
            yield {
                "configuration": run.configuration,
                "dataset": run.dataset.name,
                "question_id": query_id,
                "question": texts[query_id],
                **_answer_facts(answer),
            }


def _dataset_facts(task: Task) -> dict[str, Any]:
    ingested = task.corpus.ingested
    return {
        "name": task.dataset.name,
        "collection": task.corpus.collection.name,
        "owner": task.corpus.collection.owner,
        "documents": len(task.corpus.ids),
        "unreadable_documents": 0 if ingested is None else len(ingested.problems),
        "questions": len(task.dataset.queries),
        "questions_left_out": task.dataset.left_out,
        "ordinary": task.dataset.ordinary,
    }


def _configuration_facts(configuration: Configuration) -> dict[str, Any]:
    return {
        "name": configuration.name,
        "retrieval": configuration.retrieval.model_dump(mode="json", exclude={"limit"}),
        "rerank": configuration.rerank.model_dump(mode="json", exclude={"api_key"}),
        "wiki": configuration.wiki,
        "mmr": configuration.diversity,
    }


def _score_facts(scores: DatasetScores) -> dict[str, Any]:
    questions = next(iter(scores.values.values()))
    return {
        "configuration": scores.configuration,
        "dataset": scores.dataset,
        "measures": {name: _summary(values) for name, values in scores.values.items()},
        "costs": asdict(scores.costs),
        "questions": {
            query_id: {name: values[query_id] for name, values in scores.values.items()}
            for query_id in questions
        },
    }


def _summary(values: Values) -> dict[str, Any]:
    summary = summarise(values)
    if summary is None:
        return {"mean": None, "low": None, "high": None, "questions": 0}
    return asdict(summary)


def _answer_facts(answer: Answer) -> dict[str, Any]:
    return {
        "problem": answer.retrieved.problem,
        "milliseconds": round(answer.milliseconds, 3),
        "ranking": [asdict(document) for document in answer.ranking],
        "contexts": {
            size: {"ranking": list(contents.ranking), "added": list(contents.added)}
            for size, contents in sorted(answer.contexts.items())
        },
        "chunks": [asdict(chunk) for chunk in answer.retrieved.chunks],
        "automatic_families": list(answer.retrieved.automatic_families),
        "witnesses": [asdict(witness) for witness in answer.retrieved.witnesses],
        "usage": asdict(answer.retrieved.usage),
        "events": [dict(event) for event in answer.retrieved.events],
    }
