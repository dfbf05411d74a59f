"""Embeddings of any service that speaks OpenAI's protocol."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import openai
from openai.types import CreateEmbeddingResponse

from llmwiki.domain import EmbedderIdentity
from llmwiki.errors import InvalidAnswerError
from llmwiki.ports import Vectors
from llmwiki.providers.retries import (
    Exchange,
    RequestTooLargeError,
    RetryPolicy,
    call_with_retries,
)

_KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_PROBE = "dimension"
_BLANK = " "


class OpenAIEmbedder:
    """Embeds in batches; a batch that the service finds too long is sent in halves.

    ``dimension`` is sent along, for models that can shorten their vectors. Without it the
    dimension of the well-known models is known, and that of others is asked by one call.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        policy: RetryPolicy,
        *,
        dimension: int | None = None,
        batch_size: int = 64,
    ) -> None:
        self._client = client
        self._model = model
        self._policy = replace(policy, secret=client.api_key)
        self._asked_dimension = dimension
        self._dimension = dimension or _KNOWN_DIMENSIONS.get(model)
        self._batch_size = batch_size

    @property
    def identity(self) -> EmbedderIdentity:
        """The vector space; may cost one call, and raise what ``embed`` raises."""
        if self._dimension is None:
            self._dimension = self._request([_PROBE]).shape[1]
        # A shortened vector lives in a space of its own, so its name says that it is one.
        shortened = f"@{self._asked_dimension}" if self._asked_dimension else ""
        name = f"openai:{self._model}{shortened}"
        return EmbedderIdentity(name=name, dimension=self._dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in order. Raises what ``call_with_retries`` raises."""
        batches = [
            self._embed_batch(texts[start : start + self._batch_size])
            for start in range(0, len(texts), self._batch_size)
        ]
        if not batches:
            return np.empty((0, self.identity.dimension), dtype=np.float32)
        return np.vstack(batches)

    def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        try:
            vectors = self._request(texts)
        except RequestTooLargeError:
            if len(texts) == 1:
                raise
            middle = len(texts) // 2
            return np.vstack([self._embed_batch(texts[:middle]), self._embed_batch(texts[middle:])])
        # The first answer tells the dimension too, if nothing else has.
        self._dimension = self._dimension or vectors.shape[1]
        return vectors

    def _request(self, texts: Sequence[str]) -> Vectors:
        # Services refuse an empty text; a blank stands for it.
        inputs = [text if text.strip() else _BLANK for text in texts]
        result = call_with_retries(
            Exchange(
                send=lambda: self._client.embeddings.create(
                    model=self._model,
                    input=inputs,
                    dimensions=self._asked_dimension or openai.omit,
                    encoding_format="float",
                ),
                read=lambda answer: _read_vectors(answer, len(inputs), self._dimension),
            ),
            policy=self._policy,
            purpose="embed",
            subject=f"{len(inputs)} texts",
        )
        return result.value


def _read_vectors(answer: object, count: int, dimension: int | None) -> Vectors | None:
    """Return unit vectors in the order of the inputs; None for what is no answer at all."""
    data = answer.data if isinstance(answer, CreateEmbeddingResponse) else None
    if not isinstance(data, list):
        return None
    by_index = {getattr(item, "index", None): getattr(item, "embedding", None) for item in data}
    if set(by_index) != set(range(count)) or len(data) != count:
        raise InvalidAnswerError(f"{len(data)} vectors came for {count} texts")
    try:
        vectors = np.array([by_index[index] for index in range(count)], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidAnswerError("the vectors are not equally long rows of numbers") from error
    expected = (count, dimension or vectors.shape[-1])
    if vectors.shape != expected:
        raise InvalidAnswerError(f"vectors of shape {vectors.shape} came instead of {expected}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise InvalidAnswerError("a vector is zero or not finite")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit
