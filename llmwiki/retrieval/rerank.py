"""Puts the best of the fused candidates first; without a reranker their order stands, at no cost.

What a reranker, the network, a database or a model does here never ends a question. On any
failure the fused order comes back with its own scores, and the event says so: ``error`` with the
method ``identity``. A failure that is swallowed looks like a success with bad chunks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from llmwiki.domain import RerankMethod, Usage
from llmwiki.errors import LlmwikiError, UsageError
from llmwiki.retrieval.blend import QuestionWords, blend
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.deadline import within
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import Detail, OpenStep, Trace
from llmwiki.retrieval.failures import SURVIVED, as_told
from llmwiki.retrieval.rerank_judging import Judging, RestingError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankDetail(Detail):
    """Who ordered the candidates.

    ``zscore``: nobody but the fusion, which stands on standard scores of several tiers;
    ``identity``: nobody, the order is the one that came in.
    """

    kind: Literal["rerank"] = "rerank"
    method: Literal["zscore", "identity"] | RerankMethod
    model: str | None = None
    input_chunks: int
    output_chunks: int
    from_cache: bool = False


def rerank(
    question: str,
    candidates: Sequence[Candidate],
    *,
    top_n: int,
    words: QuestionWords,
    parts: Parts,
    trace: Trace,
) -> tuple[Candidate, ...]:
    """Return the best candidates for the question as it was asked, ``top_n`` at most.

    The candidates come in fused order, and are not changed. Of the first
    ``parts.rerank.max_candidates`` the reranker's scores are blended with what else is known;
    the others follow in fused order, as do those that a service leaves out of its answer. All of
    it, retries and the look-up of kept scores included, has ``parts.rerank.deadline`` seconds.

    Raises UsageError for a ``top_n`` below 1, and nothing else.
    """
    if top_n < 1:
        raise UsageError(f"top_n is {top_n}; ask for one chunk at least")
    fused = tuple(candidates)
    with trace.step("rerank") as step:
        if len(fused) < 2:
            reason = "single-candidate" if fused else "empty"
            step.skip(reason, "there is nothing to reorder", detail=_unchanged(fused, top_n))
        elif parts.reranker is not None:
            judging = Judging.of(question, fused, parts, parts.reranker, needed=top_n)
            return _reranked(fused, top_n, words, judging, step)
        elif len({tier for candidate in fused for tier in candidate.ranks}) < 2:
            message = "one tier alone found chunks"
            step.skip("single-tier", message, detail=_unchanged(fused, top_n))
        else:
            is_standard = parts.settings.fusion == "completed-zscore"
            step.done(_unchanged(fused, top_n, "zscore" if is_standard else "identity"))
    return fused[:top_n]


def _reranked(
    fused: tuple[Candidate, ...],
    top_n: int,
    words: QuestionWords,
    judging: Judging,
    step: OpenStep,
) -> tuple[Candidate, ...]:
    try:
        judged = within(judging.settings.deadline, judging.run, name="the reranker")
        best = blend(fused, judged.judgement, words, judging.settings.weights)[:top_n]
    except RestingError as rest:
        step.skip("circuit-open", str(rest), detail=_unchanged(fused, top_n))
        return fused[:top_n]
    except Exception as error:  # noqa: BLE001 - whatever it is, the question goes on
        _fail(step, error, _unchanged(fused, top_n))
        return fused[:top_n]
    detail = RerankDetail(
        method=judged.identity.method,
        model=judged.identity.name,
        input_chunks=len(fused),
        output_chunks=len(best),
        from_cache=judged.from_cache,
    )
    step.done(detail, usage=judged.usage)
    return best


def _fail(step: OpenStep, error: Exception, detail: RerankDetail) -> None:
    told = as_told(error) if isinstance(error, SURVIVED) else error
    calls = told.calls if isinstance(told, LlmwikiError) else 0
    log.warning("rerank.failed", error=type(told).__name__, message=str(told))
    step.fail(told, detail=detail, usage=Usage(rerank_calls=calls))


def _unchanged(
    fused: Sequence[Candidate], top_n: int, method: Literal["zscore", "identity"] = "identity"
) -> RerankDetail:
    return RerankDetail(
        method=method, input_chunks=len(fused), output_chunks=min(top_n, len(fused))
    )
