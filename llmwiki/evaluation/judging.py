"""Hands judgments and rankings to ir_measures.

The evaluators underneath order a run by score and then by id. So the scores that they get are
made from the ranks, and fall strictly: no tie is left to them.
"""

import contextlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from llmwiki.evaluation.extras import require


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What one document is worth to one question, as a witness of one subtopic."""

    query_id: str
    document_id: str
    score: int
    subtopic: str = "0"


def calculate(
    names: Sequence[str], grades: Iterable[Grade], rankings: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return the values of measures by their names in ir_measures and the question's id.

    A question that has grades and no ranking has found nothing. Raises ConfigurationError where
    the extra `evaluation` is not installed.
    """
    library = require("ir_measures")
    require("pyndeval")
    measures = {library.parse_measure(name): name for name in names}
    judgments = [
        library.Qrel(grade.query_id, grade.document_id, grade.score, grade.subtopic)
        for grade in grades
    ]
    run = [
        library.ScoredDoc(query_id, document_id, float(-rank))
        for query_id, ranking in rankings.items()
        for rank, document_id in enumerate(ranking)
    ]
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    if not judgments:
        return values
    # A set of which every question has one subtopic is legitimate; the library warns of it.
    with contextlib.redirect_stderr(io.StringIO()):
        evaluator = library.evaluator(list(measures), judgments)
    for metric in evaluator.iter_calc(run):
        values[measures[metric.measure]][metric.query_id] = float(metric.value)
    return values
