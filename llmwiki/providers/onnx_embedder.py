"""Embeddings from any sentence-transformer exported to ONNX, without a network."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from llmwiki.domain import EmbedderIdentity
from llmwiki.errors import ConfigurationError
from llmwiki.ports import Vectors

_POOLED_OUTPUT = "sentence_embedding"
_INTEGER_TYPES: Mapping[str, type[np.signedinteger[Any]]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_ERRORS_ONLY = 3


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
        self._tokenizer = _open_tokenizer(tokenizer, max_tokens)
        self._session = _open_session(model)
        self._inputs = _input_types(self._session, model)
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


def _open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such file; a tokenizer.json belongs there")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises the base class itself
        raise ConfigurationError(f"{path}: not a tokenizer.json: {error}") from error
    # A file may carry limits of its own, as 128 tokens; what is written there must not decide.
    padding = tokenizer.padding or {}
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding(
        pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
    )
    return tokenizer


def _open_session(path: Path) -> onnxruntime.InferenceSession:
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such file; an ONNX model belongs there")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.log_severity_level = _ERRORS_ONLY
    # Threads that spin while they wait halve the speed on a machine that has other work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the errors of ONNX Runtime have no base of their own
        raise ConfigurationError(f"{path}: ONNX Runtime cannot load it: {error}") from error


def _input_types(
    session: onnxruntime.InferenceSession, path: Path
) -> dict[str, type[np.signedinteger[Any]]]:
    known = {"input_ids", "attention_mask", "token_type_ids"}
    inputs = {node.name: node.type for node in session.get_inputs()}
    strange = sorted(set(inputs) - known) or sorted(
        name for name, kind in inputs.items() if kind not in _INTEGER_TYPES
    )
    if strange or "input_ids" not in inputs:
        raise ConfigurationError(
            f"{path}: not a sentence encoder that can be fed: its inputs are {inputs}; "
            f"expected integer tensors of {sorted(known)}"
        )
    return {name: _INTEGER_TYPES[kind] for name, kind in inputs.items()}


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
