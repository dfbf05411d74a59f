"""Maximal marginal relevance: the usual way to a varied context, as a baseline to compare with.

Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and
producing summaries", SIGIR 1998: the next passage is the one of the greatest relevance less its
likeness to the passages that were chosen before it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from llmwiki.domain import ChunkId
from llmwiki.evaluation.retrieved import RankedPassage

Vector = npt.NDArray[np.float32]


def choose_diverse(
    passages: Sequence[RankedPassage],
    vectors: Mapping[ChunkId, Vector],
    relevance_weight: float,
    limit: int,
) -> tuple[RankedPassage, ...]:
    """Return so many of the passages, in the order in which they are chosen.

    Relevance is the score brought to the range from 0 to 1, likeness the cosine of vectors of
    unit length; a passage without a vector is like no other. Ties go to the better rank.
    """
    relevance = _scaled([passage.score for passage in passages])
    likeness = np.zeros(len(passages))
    waiting = list(range(len(passages)))
    chosen: list[int] = []
    while waiting and len(chosen) < limit:
        gains = relevance_weight * relevance - (1 - relevance_weight) * likeness
        best = max(waiting, key=lambda place: (gains[place], -place))
        waiting.remove(best)
        chosen.append(best)
        likeness = np.maximum(likeness, _likeness(passages, vectors, best))
    return tuple(passages[place] for place in chosen)


def _scaled(scores: Sequence[float]) -> npt.NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    spread = np.ptp(values) if len(values) else 0.0
    return (values - values.min()) / spread if spread else np.ones(len(values))


def _likeness(
    passages: Sequence[RankedPassage], vectors: Mapping[ChunkId, Vector], chosen: int
) -> npt.NDArray[np.float64]:
    vector = vectors.get(passages[chosen].chunk_id)
    return np.array(
        [
            0.0
            if vector is None or (other := vectors.get(passage.chunk_id)) is None
            else float(vector @ other)
            for passage in passages
        ]
    )
