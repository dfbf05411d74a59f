import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmwiki.errors import ConfigurationError, InvalidAnswerError, TransientProviderError
from llmwiki.providers import cross_encoder
from llmwiki.providers.cross_encoder import BATCH_SIZE, CrossEncoder
from tests.providers.conftest import FakeClock
from tests.support.tiny_cross_encoder import write_cross_encoder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "tiny-reranker")


def scores(encoder: CrossEncoder, question: str, texts: list[str]) -> list[float]:
    answer = encoder.score(question, texts, timeout=60.0)
    assert [index for index, _ in answer.scores] == list(range(len(texts)))
    assert answer.usage.rerank_calls == 0
    return [score for _, score in answer.scores]


def test_a_chunk_is_scored_by_what_it_says_and_not_by_the_question(folder: Path) -> None:
    encoder = CrossEncoder(folder, FakeClock())

    assert scores(encoder, "good good", ["bad", "good fine word", ""]) == [-2.0, 4.0, 0.0]


def test_the_folder_names_the_model(folder: Path) -> None:
    identity = CrossEncoder(folder, FakeClock()).identity

    assert (identity.method, identity.name) == ("cross-encoder", "tiny-reranker")


def test_many_chunks_keep_their_order_though_batches_are_sorted_by_length(folder: Path) -> None:
    texts = ["word " * (17 * index % 23) + "fine " * index for index in range(5 * BATCH_SIZE + 1)]

    assert scores(CrossEncoder(folder, FakeClock()), "question", texts) == list(range(len(texts)))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None
)
@given(st.lists(st.lists(st.sampled_from(["good", "bad", "word"]), max_size=30), max_size=12))
def test_no_chunk_is_scored_otherwise_for_its_neighbours(
    folder: Path, chunks: list[list[str]]
) -> None:
    encoder = CrossEncoder(folder, FakeClock())
    texts = [" ".join(words) for words in chunks]

    together = scores(encoder, "question", texts)

    assert together == [scores(encoder, "question", [text])[0] for text in texts]


def test_of_two_logits_the_first_is_taken_from_the_second(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_cross_encoder(tmp_path, logits=2), FakeClock())

    assert scores(encoder, "question", ["good", "bad"]) == [3.0, -2.0]


def test_a_score_without_an_axis_of_its_own_is_taken_as_it_is(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_cross_encoder(tmp_path, logits=None), FakeClock())

    assert scores(encoder, "question", ["good", "bad", "fine"]) == [3.0, -2.0, 1.0]


def test_an_only_output_may_have_any_name(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_cross_encoder(tmp_path, output="score"), FakeClock())

    assert scores(encoder, "question", ["good"]) == [3.0]


def test_token_types_are_given_only_to_a_model_that_asks(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, inputs=("input_ids", "attention_mask"))

    assert scores(CrossEncoder(folder, FakeClock()), "good", ["bad"]) == [1.0]


def test_a_long_chunk_loses_its_end(folder: Path) -> None:
    encoder = CrossEncoder(folder, FakeClock(), max_tokens=32)
    # 32 tokens less three of the frame and one of the question.
    assert scores(encoder, "question", ["good " * 200]) == [28 * 3.0]


def test_a_long_question_leaves_half_of_the_room_to_the_chunk(folder: Path) -> None:
    encoder = CrossEncoder(folder, FakeClock(), max_tokens=32)

    assert scores(encoder, "question " * 100, ["good " * 200]) == [13 * 3.0]


class PassingClock(FakeClock):
    """Each look at the clock takes a second."""

    def monotonic(self) -> float:
        self.sleep(1.0)
        return super().monotonic()


def test_when_time_is_over_the_other_batches_are_left_and_nothing_is_answered(
    folder: Path,
) -> None:
    clock = PassingClock()
    encoder = CrossEncoder(folder, clock)
    before = clock.monotonic()

    with pytest.raises(TransientProviderError, match=f"scored {2 * BATCH_SIZE} of 40 chunks"):
        encoder.score("question", ["word"] * 40, timeout=3.0)

    assert clock.monotonic() - before < 6.0


def test_a_batch_in_which_the_time_runs_out_is_ended(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_cross_encoder(tmp_path, hangs=True), FakeClock())

    with pytest.raises(TransientProviderError, match=r"scored 0 of 2 chunks within 0\.05 s"):
        encoder.score("question", ["good", "slow"], timeout=0.05)

    assert scores(encoder, "question", ["good"]) == [3.0]


def test_no_chunks_have_no_scores(folder: Path) -> None:
    assert scores(CrossEncoder(folder, FakeClock()), "question", []) == []


def test_a_score_that_is_no_number_is_passed_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = CrossEncoder(folder, FakeClock())
    monkeypatch.setattr(
        encoder,
        "_run",
        lambda encodings, _options: np.full((len(encodings), 1), np.nan, dtype=np.float64),
    )

    assert math.isnan(scores(encoder, "question", ["good"])[0])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()

    with pytest.raises(ConfigurationError, match=missing):
        CrossEncoder(folder, FakeClock())


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_named(folder: Path, broken: str) -> None:
    (folder / broken).write_bytes(b"\x00not this\xff")

    with pytest.raises(ConfigurationError, match=broken):
        CrossEncoder(folder, FakeClock())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere/tokenizer\.json: no such file"):
        CrossEncoder(tmp_path / "nowhere", FakeClock())


def test_a_classifier_of_three_labels_is_no_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected one or two logits"):
        CrossEncoder(write_cross_encoder(tmp_path, logits=3), FakeClock())


def test_a_graph_that_takes_something_else_is_no_cross_encoder(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, inputs=("input_ids", "pixel_values"))

    with pytest.raises(ConfigurationError, match="not a text encoder"):
        CrossEncoder(folder, FakeClock())


def test_a_graph_for_one_pair_at_a_time_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="takes several pairs of any length"):
        CrossEncoder(write_cross_encoder(tmp_path, batch=1), FakeClock())


def test_a_model_that_fails_on_a_chunk_is_an_answer_that_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = CrossEncoder(folder, FakeClock())
    # Token numbers beyond the table are what a tokenizer of another model gives.
    monkeypatch.setattr(
        cross_encoder, "_feed", lambda _name, encodings, _pad: np.full((len(encodings), 2), 10_000)
    )

    with pytest.raises(InvalidAnswerError, match="tiny-reranker failed on 1 pairs"):
        encoder.score("question", ["good"], timeout=1.0)
