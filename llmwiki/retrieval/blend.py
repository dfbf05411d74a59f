"""The final score of a chunk where a reranker scored it, purely.

A reranker alone forgets what the tiers know, above all that a chunk names the very option
that was asked for. The blend of the specification keeps it::

    .4 · minmax(reranker) + .3 · minmax(fused) + .3 · overlap + .2 · exact tokens

Overlap is the share of the question's lexemes that the chunk holds, and exact tokens the share
of its rare identifiers, each lexeme and identifier weighted by its rarity (inverse document
frequency). Reranker scores are brought onto one scale by their lowest and highest and not by the
logistic function, because services answer with numbers of any scale, and because the logistic
function of a well-trained cross-encoder is near 0 or near 1 and tells good chunks no longer
apart. Without a reranker the fused score stands alone: the other two signals without the first
lost .03 of nDCG@10 on four data sets (docs of this project, retrieval measurements).
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from llmwiki.config import BlendWeights
from llmwiki.domain import ChunkId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.normalisation import min_max_scale
from llmwiki.text.weights import share

COMMON_SHARE = 0.05
"""An identifier in this share of the chunks or more tells none of them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWords:
    """What the question asks for by word: rarity by lexeme, and by identifier in lower case."""

    lexemes: Mapping[str, float] = field(default_factory=dict)
    """Those that some chunk holds."""
    unknown: float = 0.0
    """The rarity of all others together: no chunk holds them."""
    identifiers: Mapping[str, float] = field(default_factory=dict)
    """Only rare ones; see ``rare_identifiers``."""

    def overlap(self, held: AbstractSet[str]) -> float:
        """Return the share of the question's words that are held, by their rarity, from 0 to 1.

        A word that the corpus does not have weighs most: it may be all that is asked about.
        """
        return share(self.lexemes, held, unknown=self.unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is known of the candidates beside their fused scores."""

    scores: Mapping[ChunkId, float]
    """Of the reranker, on any scale; a candidate without one was not scored."""
    lexemes: Mapping[ChunkId, AbstractSet[str]]
    """Of the scored candidates."""


def rare_identifiers(
    weights: Mapping[str, float], frequencies: Mapping[str, int], chunks: int
) -> dict[str, float]:
    """Return the weights of those identifiers that few enough of the chunks hold."""
    return {
        name: weight
        for name, weight in weights.items()
        if frequencies.get(name, 0) < COMMON_SHARE * chunks
    }


def blend(
    candidates: Sequence[Candidate],
    judgement: Judgement,
    words: QuestionWords,
    weights: BlendWeights,
) -> tuple[Candidate, ...]:
    """Return the candidates with their blended scores, the best first.

    Ties keep the order that the candidates came in. Those without a score of the reranker follow
    in that order below all others, each as far below the last of these as its fused score is
    below the best one.
    """
    scored = [candidate for candidate in candidates if candidate.id in judgement.scores]
    rest = [candidate for candidate in candidates if candidate.id not in judgement.scores]
    if not scored:
        return tuple(candidates)
    blended = sorted(
        _blended(scored, judgement, words, weights), key=lambda candidate: -candidate.score
    )
    highest = max(candidate.fused_score for candidate in candidates)
    lowest = blended[-1].score
    below = (
        replace(candidate, score=lowest - (highest - candidate.fused_score)) for candidate in rest
    )
    return (*blended, *below)


def _blended(
    candidates: Sequence[Candidate],
    judgement: Judgement,
    words: QuestionWords,
    weights: BlendWeights,
) -> list[Candidate]:
    reranked = min_max_scale(judgement.scores[candidate.id] for candidate in candidates)
    fused = min_max_scale(candidate.fused_score for candidate in candidates)
    return [
        replace(
            candidate,
            score=weights.rerank * reranked.place(judgement.scores[candidate.id])
            + weights.fused * fused.place(candidate.fused_score)
            + weights.overlap * share(words.lexemes, judgement.lexemes.get(candidate.id, ()))
            + weights.exact_token * share(words.identifiers, candidate.chunk.identifiers),
        )
        for candidate in candidates
    ]
