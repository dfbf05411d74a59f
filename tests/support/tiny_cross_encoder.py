"""Writes a cross-encoder of a few kilobytes: a real ONNX graph whose score adds up words.

Each word of the vocabulary has a weight; the score of a pair is the sum over its chunk, or
over both sides where the graph takes no token types. Padding must be masked to add nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WEIGHTS: Mapping[str, float] = {"good": 3.0, "bad": -2.0, "fine": 1.0, "[PAD]": 100.0}
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "fine", "word", "question", "slow")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_cross_encoder(
    folder: Path,
    *,
    logits: int | None = 1,
    inputs: Sequence[str] = INPUTS,
    output: str = "logits",
    batch: int | str = "batch",
    hangs: bool = False,
) -> Path:
    """Write model.onnx and tokenizer.json, and return the folder.

    ``logits`` is how many numbers come for each pair; with two the first is the second's half
    below zero, and with None the axis of the numbers is left out. One that ``hangs`` works for
    ever where a chunk holds the word "slow".
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder / "tokenizer.json")
    columns = np.zeros((len(WORDS), logits or 1), dtype=np.float32)
    for word, weight in WEIGHTS.items():
        columns[WORDS.index(word), -1] = weight / 2 if logits == 2 else weight
        if logits == 2:
            columns[WORDS.index(word), 0] = -weight / 2
    rounds = np.zeros(len(WORDS), dtype=np.int64)
    rounds[WORDS.index("slow")] = 2**62
    shape = [batch, "sequence"]
    graph = helper.make_graph(
        _nodes(inputs, "scores" if hangs else output, keep_axis=logits is not None)
        + (_endless_nodes(output) if hangs else []),
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [
            helper.make_tensor_value_info(
                output, TensorProto.FLOAT, [batch] if logits is None else [batch, logits]
            )
        ],
        [
            numpy_helper.from_array(columns, "weights"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "one"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "two"),
            numpy_helper.from_array(rounds, "rounds"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(model, folder / "model.onnx")
    return folder


def write_tokenizer(path: Path) -> None:
    """Write a tokenizer of whole words that frames pairs as BERT does."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # Limits of another use, which a cross-encoder must not inherit.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64)
    tokenizer.save(str(path))


def _nodes(inputs: Sequence[str], output: str, *, keep_axis: bool) -> list[NodeProto]:
    counted = [name for name in inputs if name != "input_ids"]
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["each"])]
    last = "each"
    for name in counted:
        nodes += [
            helper.make_node("Cast", [name], [f"{name}_float"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", [f"{name}_float", "two"], [f"{name}_column"]),
            helper.make_node("Mul", [last, f"{name}_column"], [f"{name}_kept"]),
        ]
        last = f"{name}_kept"
    summed = output if keep_axis else "sums"
    nodes.append(helper.make_node("ReduceSum", [last, "one"], [summed], keepdims=0))
    if not keep_axis:
        nodes.append(helper.make_node("Squeeze", ["sums", "one"], [output]))
    return nodes


def _endless_nodes(output: str) -> list[NodeProto]:
    """Return a loop over the scores that changes none of them, of as many rounds as words ask."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going_in"], ["going_out"]),
            helper.make_node("Neg", ["value_in"], ["negative"]),
            helper.make_node("Neg", ["negative"], ["value_out"]),
        ],
        "round",
        [
            helper.make_tensor_value_info("number", TensorProto.INT64, []),
            helper.make_tensor_value_info("going_in", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value_in", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("going_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("value_out", TensorProto.FLOAT, None),
        ],
    )
    return [
        helper.make_node("Gather", ["rounds", "input_ids"], ["asked"]),
        helper.make_node("ReduceMax", ["asked"], ["most"], keepdims=0),
        helper.make_node("Loop", ["most", "", "scores"], [output], body=body),
    ]
