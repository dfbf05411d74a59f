"""Opening ONNX graphs and tokenizers of any origin, with errors that say what is wrong."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from llmwiki.errors import ConfigurationError

InputTypes = Mapping[str, type[np.signedinteger[Any]]]
"""The names of a graph's inputs, with the integers that each of them takes."""

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_INTEGER_TYPES: InputTypes = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_ERRORS_ONLY = 3


def open_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json. Raises ConfigurationError."""
    if not path.is_file():
        raise ConfigurationError(f"{path}: no such file; a tokenizer.json belongs there")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises the base class itself
        raise ConfigurationError(f"{path}: not a tokenizer.json: {error}") from error


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Load a graph for the processor. Raises ConfigurationError."""
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


def input_types(session: onnxruntime.InferenceSession, path: Path) -> InputTypes:
    """Return what the graph asks for.

    Raises ConfigurationError for a graph that takes anything but token ids, their mask and their
    types, or that takes no token ids.
    """
    inputs = {node.name: node.type for node in session.get_inputs()}
    strange = sorted(set(inputs) - _KNOWN_INPUTS) or sorted(
        name for name, kind in inputs.items() if kind not in _INTEGER_TYPES
    )
    if strange or "input_ids" not in inputs:
        raise ConfigurationError(
            f"{path}: not a text encoder that can be fed: its inputs are {inputs}; "
            f"expected integer tensors of {sorted(_KNOWN_INPUTS)}"
        )
    return {name: _INTEGER_TYPES[kind] for name, kind in inputs.items()}
