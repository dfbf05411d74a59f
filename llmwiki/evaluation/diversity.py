"""Maximal marginal relevance: the usual way to a varied context, as a baseline to compare with.

Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and
producing summaries", SIGIR 1998: the next chunk is the one of the greatest relevance less its
likeness to the chunks that were chosen before it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from llmwiki.domain import ChunkId
from llmwiki.evaluation.retrieved import RankedChunk

Vector = npt.NDArray[np.float32]


def choose_diverse(
    chunks: Sequence[RankedChunk],
    vectors: Mapping[ChunkId, Vector],
    relevance_weight: float,
    limit: int,
) -> tuple[RankedChunk, ...]:
    """Return so many of the chunks, in the order in which they are chosen.

    Relevance is the score brought to the range from 0 to 1, likeness the cosine of vectors of
    unit length; a chunk without a vector is like no other. Ties go to the better rank.
    """
    relevance = _scaled([chunk.score for chunk in chunks])
    likeness = np.zeros(len(chunks))
    waiting = list(range(len(chunks)))
    chosen: list[int] = []
    while waiting and len(chosen) < limit:
        gains = relevance_weight * relevance - (1 - relevance_weight) * likeness
        best = max(waiting, key=lambda place: (gains[place], -place))
        waiting.remove(best)
        chosen.append(best)
        likeness = np.maximum(likeness, _likeness(chunks, vectors, best))
    return tuple(chunks[place] for place in chosen)


def _scaled(scores: Sequence[float]) -> npt.NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    spread = np.ptp(values) if len(values) else 0.0
    return (values - values.min()) / spread if spread else np.ones(len(values))


def _likeness(
    chunks: Sequence[RankedChunk], vectors: Mapping[ChunkId, Vector], chosen: int
) -> npt.NDArray[np.float64]:
    vector = vectors.get(chunks[chosen].chunk_id)
    return np.array(
        [
            0.0
            if vector is None or (other := vectors.get(chunk.chunk_id)) is None
            else float(vector @ other)
            for chunk in chunks
        ]
    )
