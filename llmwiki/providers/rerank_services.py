"""Reranking by services of the shape of Cohere's, Jina's and Voyage's.

They take a question and documents, and answer with a relevance for the index of each. They
differ in the address, in how the number of answers is asked for, and in where these stand.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llmwiki.config.retrieval import RerankService
from llmwiki.domain import RerankerIdentity, RerankScores, Usage
from llmwiki.errors import ConfigurationError, InvalidAnswerError
from llmwiki.providers.http_answer import HttpAnswer, member
from llmwiki.providers.json_service import JsonService
from llmwiki.providers.retries import Exchange, RetryPolicy, call_with_retries
from llmwiki.providers.service_address import require_sendable

_PATH = "rerank"
_SHORTEST_TIMEOUT = 0.001

Scores = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """How one vendor wants to be asked."""

    base_url: str
    limit_name: str
    rows_name: str


_SHAPES: Mapping[RerankService, _Shape] = {
    "cohere": _Shape(base_url="https://api.cohere.com/v2", limit_name="top_n", rows_name="results"),
    "jina": _Shape(base_url="https://api.jina.ai/v1", limit_name="top_n", rows_name="results"),
    "voyage": _Shape(base_url="https://api.voyageai.com/v1", limit_name="top_k", rows_name="data"),
}


def open_service(
    service: RerankService, *, base_url: str | None, api_key: str | None
) -> JsonService:
    """Return the connection to a service, the vendor's own unless an address is given.

    Raises ConfigurationError when the vendor's own lacks its key, or when the address or the
    key cannot be sent.
    """
    if base_url is None and not api_key:
        raise ConfigurationError(
            f"no API key for {service}: set rerank.api_key in llmwiki.toml or "
            "LLMWIKI_RERANK__API_KEY, or set rerank.base_url to a service that needs none"
        )
    require_sendable(base_url, api_key)
    return JsonService(base_url or _SHAPES[service].base_url, api_key)


class ServiceReranker:
    """Scores chunks by one request to a service; each attempt is a unit of the ledger."""

    def __init__(
        self, service: RerankService, connection: JsonService, model: str, policy: RetryPolicy
    ) -> None:
        self._shape = _SHAPES[service]
        self._connection = connection
        self._policy = policy
        self._identity = RerankerIdentity(method=service, name=model)

    @property
    def identity(self) -> RerankerIdentity:
        """The vendor and the model."""
        return self._identity

    def score(self, question: str, texts: Sequence[str], *, timeout: float) -> RerankScores:
        """Score every text. Raises what ``call_with_retries`` raises.

        An attempt has the time that is left, and none begins when it is over.
        """
        ends_at = time.monotonic() + timeout
        request = {
            "model": self._identity.name,
            "query": question,
            "documents": list(texts),
            self._shape.limit_name: len(texts),
        }
        result = call_with_retries(
            Exchange(
                send=lambda: self._connection.post(
                    _PATH, request, timeout=max(_SHORTEST_TIMEOUT, ends_at - time.monotonic())
                ),
                read=self._read,
            ),
            policy=replace(self._policy, patience=timeout),
            purpose="rerank",
            subject=f"{self._identity.subject}{len(texts)} chunks",
        )
        usage = Usage(
            rerank_calls=result.attempts,
            input_tokens=result.tokens.input,
            output_tokens=result.tokens.output,
        )
        return RerankScores(scores=result.value, usage=usage)

    def _read(self, answer: object) -> Scores | None:
        if not isinstance(answer, HttpAnswer) or not answer.succeeded:
            return None
        rows = member(answer.body, self._shape.rows_name)
        return tuple(map(_read_row, rows)) if isinstance(rows, list) else None


def _read_row(row: object) -> tuple[int, float]:
    index, score = member(row, "index"), member(row, "relevance_score")
    if not isinstance(index, int) or not isinstance(score, int | float):
        raise InvalidAnswerError(
            "a row of the answer is not an index with a relevance_score that are numbers"
        )
    try:
        return index, float(score)
    except OverflowError as error:
        raise InvalidAnswerError("a relevance_score is too large for a number") from error
