"""Scores pairs of question and chunk by any cross-encoder exported to ONNX, offline."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from llmwiki.domain import RerankerIdentity, RerankScores, Usage
from llmwiki.errors import ConfigurationError, InvalidAnswerError, TransientProviderError
from llmwiki.ports import Clock
from llmwiki.providers.onnx_ending import ended_after
from llmwiki.providers.onnx_graph import input_types, open_session, open_tokenizer

BATCH_SIZE = 4
"""Pairs in one run of the model. On a processor larger batches cost more (MiniLM, 48 pairs of
200 tokens: 3.6 s of processor time at 1 to 4, 4.3 s at 8, 5.1 s at 16), and the deadline is
looked at between two of them."""

_OUTPUT = "logits"
_PADDING_TOKENS = ("[PAD]", "<pad>")
_PROBE = ("question", ("chunk", "a chunk that is longer"))
_PROBE_SECONDS = 60.0


class CrossEncoder:
    """Reads each chunk together with the question, and scores the pair.

    The score is the logit of a model with one output. Of a model with two it is the second less
    the first, of which the logistic function is the softmax share of the second, the label that
    stands for "relevant". A pair beyond ``max_tokens`` loses the end of its chunk; a question
    that takes more than half of them loses its own end.
    """

    def __init__(self, folder: Path, clock: Clock, *, max_tokens: int = 512) -> None:
        """Open ``model.onnx`` and ``tokenizer.json``, and score a pair to see that it works.

        Raises ConfigurationError for what is missing, cannot be read, or is no cross-encoder.
        """
        model = folder / "model.onnx"
        self._clock = clock
        self._questions = _question_tokenizer(folder / "tokenizer.json", max_tokens)
        self._pairs = _pair_tokenizer(folder / "tokenizer.json", max_tokens)
        self._padding = _padding_id(self._pairs)
        self._session = open_session(model)
        self._inputs = input_types(self._session, model)
        self._output = _choose_output(self._session, model)
        self._identity = RerankerIdentity(method="cross-encoder", name=folder.resolve().name)
        self._probe(model)

    @property
    def identity(self) -> RerankerIdentity:
        """The model, called as its folder is."""
        return self._identity

    def score(self, question: str, texts: Sequence[str], *, timeout: float) -> RerankScores:
        """Score every text, or none.

        Raises TransientProviderError when time is over before the last score, in the middle of a
        batch as well, InvalidAnswerError when the model cannot run on these texts.
        """
        ends = self._clock.monotonic() + timeout
        asked = self._shortened(question)
        encodings = self._pairs.encode_batch([(asked, text) for text in texts])
        scores: list[tuple[int, float]] = []
        with ended_after(timeout) as options:
            for batch in _batches_by_length(encodings):
                logits = (
                    None
                    if self._clock.monotonic() >= ends
                    else self._run([encodings[index] for index in batch], options)
                )
                if logits is None:
                    raise TransientProviderError(
                        f"{self._identity.name} scored {len(scores)} of {len(texts)} chunks "
                        f"within {timeout:.2g} s; raise rerank.deadline or lower "
                        "rerank.max_candidates"
                    )
                scores.extend(zip(batch, _scores_of(logits), strict=True))
        return RerankScores(scores=tuple(sorted(scores)), usage=Usage())

    def _shortened(self, question: str) -> str:
        encoding = self._questions.encode(question, add_special_tokens=False)
        return question[: encoding.offsets[-1][1]] if encoding.overflowing else question

    def _run(
        self, encodings: Sequence[Encoding], options: onnxruntime.RunOptions
    ) -> npt.NDArray[np.float64] | None:
        """Return the numbers of the pairs; None where the run was ended, as its time was over."""
        feeds = {
            name: _feed(name, encodings, self._padding).astype(kind)
            for name, kind in self._inputs.items()
        }
        try:
            answer = self._session.run([self._output], feeds, options)[0]
        except Exception as error:  # the errors of ONNX Runtime have no base of their own
            if options.terminate:
                return None
            raise InvalidAnswerError(
                f"{self._identity.name} failed on {len(encodings)} pairs of at most "
                f"{max(len(encoding.ids) for encoding in encodings)} tokens (does it take "
                f"rerank.max_tokens?): {error}"
            ) from error
        return np.asarray(answer, dtype=np.float64).reshape(len(encodings), -1)

    def _probe(self, model: Path) -> None:
        question, texts = _PROBE
        try:
            self.score(question, texts, timeout=_PROBE_SECONDS)
        except (InvalidAnswerError, ValueError) as error:
            raise ConfigurationError(
                f"{model}: not a cross-encoder that takes several pairs of any length: {error}"
            ) from error


def _question_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    tokenizer = open_tokenizer(path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens // 2)
    return tokenizer


def _pair_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    tokenizer = open_tokenizer(path)
    # The file's own limits and padding are those of another use.
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="only_second")
    return tokenizer


def _padding_id(tokenizer: Tokenizer) -> int:
    known = (tokenizer.token_to_id(token) for token in _PADDING_TOKENS)
    return next((number for number in known if number is not None), 0)


def _choose_output(session: onnxruntime.InferenceSession, path: Path) -> str:
    """Return the name of the output that holds one or two numbers for each pair."""
    shapes = {node.name: list(node.shape) for node in session.get_outputs()}
    name = _OUTPUT if _OUTPUT in shapes else next(iter(shapes))
    shape = shapes[name]
    is_known = len(shape) == 1 or (len(shape) == 2 and shape[1] in (1, 2))
    # An axis that has a name instead of a size shows its size when the model runs.
    if not is_known and not (len(shape) == 2 and not isinstance(shape[1], int)):
        raise ConfigurationError(
            f"{path}: not a cross-encoder: its outputs are {shapes}; expected one or two logits "
            "for each pair"
        )
    return name


def _batches_by_length(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Yield indices of neighbours in length, which need little padding."""
    order = sorted(range(len(encodings)), key=lambda index: len(encodings[index].ids))
    for start in range(0, len(order), BATCH_SIZE):
        yield order[start : start + BATCH_SIZE]


def _feed(name: str, encodings: Sequence[Encoding], padding: int) -> npt.NDArray[np.int64]:
    rows = [_column(name, encoding) for encoding in encodings]
    filler = padding if name == "input_ids" else 0
    table = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int64)
    for row, numbers in zip(table, rows, strict=True):
        row[: len(numbers)] = numbers
    return table


def _column(name: str, encoding: Encoding) -> list[int]:
    columns: dict[str, list[int]] = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    return columns[name]


def _scores_of(logits: npt.NDArray[np.float64]) -> list[float]:
    """Return a score for each row of one or two logits. Raises InvalidAnswerError for others."""
    if logits.shape[1] == 1:
        scores: list[float] = logits[:, 0].tolist()
        return scores
    if logits.shape[1] == 2:
        differences: list[float] = (logits[:, 1] - logits[:, 0]).tolist()
        return differences
    raise InvalidAnswerError(f"{logits.shape[1]} numbers came for each pair, not one or two")
