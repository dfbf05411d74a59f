"""Measures of a run, question by question.

A value is None where the measure is not defined for the question: no family is required, no
authority was asked for, or families are what the question needs. Such a question is left out of
the mean; it is not a success.

nDCG: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
alpha_nDCG: Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008.
family_recall is subtopic recall with families for subtopics: Zhai, Cohen and Lafferty, "Beyond
independent relevance", SIGIR 2003. These three and recall are computed by ir_measures.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from llmwiki.evaluation.dataset import Dataset, Judgment
from llmwiki.evaluation.judging import Grade, calculate
from llmwiki.evaluation.running import CONTEXT_SIZES, Answer, Needs, Run
from llmwiki.evaluation.significance import bootstrap_interval

Values = Mapping[str, float | None]
"""By the question's id."""

RELEVANCE = ("nDCG@10", "R@10")
NOVELTY = "alpha_nDCG@10"
FAMILY_RECALL = {size: f"family_recall@{size}" for size in sorted(CONTEXT_SIZES)}
COMPLETE = {size: f"complete@{size}" for size in sorted(CONTEXT_SIZES)}
CONTEXT_RECALL = f"context_recall@{CONTEXT_SIZES[0]}"
WITNESS_AUTHORITY = "witness_authority"
FALSE_FAMILY = "false_family"

QUALITY = (*RELEVANCE, NOVELTY, *FAMILY_RECALL.values(), *COMPLETE.values(), CONTEXT_RECALL)
"""Measures of which more is better, and by which two configurations are compared."""

MEASURES = (*QUALITY, WITNESS_AUTHORITY, FALSE_FAMILY)

SMALLEST_SET = 2
"""Families that a question has to require before automatic families are meant for it."""


def needs_of(names: Collection[str], depth: int) -> Needs:
    """Return what has to be asked for these measures, with so many chunks in a deep ranking."""
    return Needs(
        contexts=tuple(
            size
            for size in CONTEXT_SIZES[1:]
            if FAMILY_RECALL[size] in names or COMPLETE[size] in names
        ),
        depth=None if set(names).isdisjoint((*RELEVANCE, NOVELTY)) else depth,
    )


def measure(run: Run, names: Sequence[str] = MEASURES) -> dict[str, Values]:
    """Return the values of the measures, by their names and the question's id.

    Raises ConfigurationError where the extra `evaluation` is not installed.
    """
    values: dict[str, Values] = {}
    if not set(names).isdisjoint(RELEVANCE):
        values |= _relevance(run)
    if NOVELTY in names:
        values |= _novelty(run)
    for size, name in FAMILY_RECALL.items():
        if name in names or COMPLETE[size] in names:
            values[name] = _family_recall(run, size)
            values[COMPLETE[size]] = _complete(values[name])
    for name, value_of in _BY_ANSWER.items():
        values[name] = {
            query_id: value_of(answer, run.dataset, query_id)
            for query_id, answer in run.answers.items()
        }
    return {name: values[name] for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The mean of a measure with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float
    questions: int
    """Those of which the measure is defined."""


def summarise(values: Values) -> Summary | None:
    """Return the mean and how sure it is; None where no question has the measure."""
    defined = [value for value in values.values() if value is not None]
    if not defined:
        return None
    low, high = bootstrap_interval(defined)
    return Summary(mean=fmean(defined), low=low, high=high, questions=len(defined))


def mean(values: Values) -> float | None:
    """Return the mean over the questions of which the measure is defined; None for none."""
    defined = [value for value in values.values() if value is not None]
    return fmean(defined) if defined else None


def _relevance(run: Run) -> dict[str, Values]:
    scores = [
        Grade(query_id=query_id, document_id=document_id, score=score)
        for query_id, judgments in run.dataset.judgments.items()
        for document_id, score in _best_scores(judgments).items()
    ]
    values = calculate(RELEVANCE, scores, _deep_rankings(run))
    return {name: _in_order(run, found) for name, found in values.items()}


def _novelty(run: Run) -> dict[str, Values]:
    values = calculate((NOVELTY,), _witnesses(run.dataset), _deep_rankings(run))
    return {NOVELTY: _in_order(run, values[NOVELTY])}


def _family_recall(run: Run, size: int) -> Values:
    rankings = {query_id: answer.contexts[size].ranking for query_id, answer in run.answers.items()}
    name = f"StRecall@{size}"
    return _in_order(run, calculate((name,), _witnesses(run.dataset), rankings)[name])


def _complete(recalls: Values) -> Values:
    return {
        query_id: None if recall is None else float(recall == 1)
        for query_id, recall in recalls.items()
    }


def _deep_rankings(run: Run) -> dict[str, list[str]]:
    return {
        query_id: [document.id for document in answer.ranking]
        for query_id, answer in run.answers.items()
    }


def _best_scores(judgments: Iterable[Judgment]) -> dict[str, int]:
    """Return the best score of each document: it may be a witness of several families."""
    scores: dict[str, int] = {}
    for judgment in judgments:
        known = scores.get(judgment.document_id, judgment.score)
        scores[judgment.document_id] = max(known, judgment.score)
    return scores


def _witnesses(dataset: Dataset) -> list[Grade]:
    """Return the witnesses of required families.

    Families are numbered for each question: the evaluator keeps a column for every number.
    """
    grades = []
    for query_id, judgments in dataset.judgments.items():
        numbers = {
            family: str(number)
            for number, family in enumerate(sorted(dataset.required_families(query_id)))
        }
        grades += [
            Grade(
                query_id=query_id,
                document_id=judgment.document_id,
                score=judgment.score,
                subtopic=numbers[judgment.family],
            )
            for judgment in judgments
            if judgment.family in numbers
        ]
    return grades


def _in_order(run: Run, values: Mapping[str, float]) -> Values:
    return {query_id: values.get(query_id) for query_id in run.answers}


def _context_recall(answer: Answer, dataset: Dataset, query_id: str) -> float | None:
    required = dataset.required_families(query_id)
    if not required:
        return None
    contents = answer.contexts[CONTEXT_SIZES[0]]
    documents = {*contents.ranking, *contents.added}
    covered = {
        judgment.family
        for judgment in dataset.judgments[query_id]
        if judgment.score > 0 and judgment.document_id in documents
    }
    return len(required & covered) / len(required)


def _witness_authority(answer: Answer, _dataset: Dataset, _query_id: str) -> float | None:
    witnesses = answer.retrieved.witnesses
    return fmean(witness.authority_met for witness in witnesses) if witnesses else None


def _false_family(answer: Answer, dataset: Dataset, query_id: str) -> float | None:
    if len(dataset.required_families(query_id)) >= SMALLEST_SET:
        return None
    return float(bool(answer.retrieved.automatic_families))


_BY_ANSWER: Mapping[str, Callable[[Answer, Dataset, str], float | None]] = {
    CONTEXT_RECALL: _context_recall,
    WITNESS_AUTHORITY: _witness_authority,
    FALSE_FAMILY: _false_family,
}
