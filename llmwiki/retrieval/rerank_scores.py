"""Checks what a reranker answered, purely. Most of its lies look like a success."""

from collections.abc import Iterable, Sequence
from math import isfinite

from llmwiki.errors import InvalidAnswerError

LARGEST_SCORE = 1e9
"""Logits and probabilities are far below it."""


def check_scores(
    answer: Iterable[tuple[int, float]], texts: Sequence[str], *, needed: int
) -> dict[int, float]:
    """Return the score of each text by its index.

    Texts may be left out, as services do that answer with the best ones only, as long as
    ``needed`` are there. Raises InvalidAnswerError for less, for an index that is no text's or
    comes twice, for what is no ordinary number, and for one score for texts that differ: that
    is how a model that failed behind its service looks.
    """
    scores: dict[int, float] = {}
    for index, score in answer:
        if not 0 <= index < len(texts):
            raise InvalidAnswerError(f"the reranker scored text {index} of {len(texts)}")
        if index in scores:
            raise InvalidAnswerError(f"the reranker scored text {index} twice")
        if not isfinite(score) or abs(score) > LARGEST_SCORE:
            raise InvalidAnswerError(f"the reranker gave text {index} the score {score}")
        scores[index] = score
    if len(scores) < needed:
        raise InvalidAnswerError(
            f"the reranker scored {len(scores)} of {len(texts)} texts, and {needed} are needed"
        )
    if len(set(scores.values())) == 1 and len({texts[index] for index in scores}) > 1:
        raise InvalidAnswerError(
            f"the reranker gave {len(scores)} texts the same score, {next(iter(scores.values()))}"
        )
    return scores
