"""Embeddings from any sentence-transformer exported to ONNX, without a network."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from llmwiki.domain import EmbedderIdentity
from llmwiki.errors import ConfigurationError
from llmwiki.ports import Vectors
from llmwiki.providers.onnx_graph import input_types, open_session, open_tokenizer

_POOLED_OUTPUT = "sentence_embedding"


class OnnxEmbedder:
    """Embeds with one ONNX graph and its tokenizer; vectors are mean-pooled and of unit length.

    Texts are cut at ``max_tokens``. One text a batch is the default on purpose: on a processor a
    larger batch of chunks is slower, and attention over 64 of them takes 3 GB. Larger batches
    pay only for texts of a few words.
    """

    def __init__(
        self,
        model: Path,
        tokenizer: Path,
        *,
        name: str,
        max_tokens: int = 256,
        batch_size: int = 1,
    ) -> None:
        self._tokenizer = _limited_tokenizer(tokenizer, max_tokens)
        self._session = open_session(model)
        self._inputs = input_types(self._session, model)
        self._output, self._is_pooled, dimension = _choose_output(self._session, model)
        self._batch_size = batch_size
        self._identity = EmbedderIdentity(name=name, dimension=dimension)

    @property
    def identity(self) -> EmbedderIdentity:
        """The vector space of this model."""
        return self._identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in order."""
        vectors = np.empty((len(texts), self._identity.dimension), dtype=np.float32)
        # Neighbours of similar length need little padding.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            vectors[batch] = self._embed_batch([texts[index] for index in batch])
        return vectors

    def _embed_batch(self, texts: list[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(texts)
        feeds = {name: _feed(name, kind, encodings) for name, kind in self._inputs.items()}
        answer = np.asarray(self._session.run([self._output], feeds)[0], dtype=np.float32)
        if not self._is_pooled:
            answer = _mean_pool(answer, _feed("attention_mask", np.int64, encodings))
        return _unit_rows(answer)


def _limited_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    tokenizer = open_tokenizer(path)
    # A file may carry limits of its own, as 128 tokens; what is written there must not decide.
    padding = tokenizer.padding or {}
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding(
        pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
    )
    return tokenizer


def _choose_output(session: onnxruntime.InferenceSession, path: Path) -> tuple[str, bool, int]:
    """Return the output's name, whether it is pooled already, and the dimension."""
    shapes = {node.name: list(node.shape) for node in session.get_outputs()}
    by_rank = {len(shape): name for name, shape in reversed(shapes.items())}
    pooled = _POOLED_OUTPUT if len(shapes.get(_POOLED_OUTPUT, ())) == 2 else None
    name = pooled or by_rank.get(3) or by_rank.get(2)
    dimension = shapes[name][-1] if name else None
    if name is None or not isinstance(dimension, int):
        raise ConfigurationError(
            f"{path}: the dimension is unknown: its outputs are {shapes}; expected "
            "last_hidden_state or sentence_embedding with a fixed last axis"
        )
    return name, len(shapes[name]) == 2, dimension


def _feed(
    name: str, kind: type[np.signedinteger[Any]], encodings: list[Encoding]
) -> npt.NDArray[Any]:
    columns = {
        "input_ids": lambda encoding: encoding.ids,
        "attention_mask": lambda encoding: encoding.attention_mask,
        "token_type_ids": lambda encoding: encoding.type_ids,
    }
    return np.array([columns[name](encoding) for encoding in encodings], dtype=kind)


def _mean_pool(hidden: Vectors, mask: npt.NDArray[Any]) -> Vectors:
    weights = mask.astype(np.float32)[..., np.newaxis]
    pooled: Vectors = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    return pooled


def _unit_rows(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
