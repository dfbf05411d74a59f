import numpy as np
import openai
import pytest

from llmwiki.errors import InvalidAnswerError, ProviderError
from llmwiki.providers.openai_embedder import OpenAIEmbedder
from llmwiki.providers.retries import RequestTooLargeError, RetryPolicy
from tests.providers.conftest import FakeMeter
from tests.support.chat_server import (
    Answer,
    ChatServer,
    Json,
    answer_by_default,
    embeddings,
    text_vector,
)


@pytest.fixture
def embedder(client: openai.OpenAI, policy: RetryPolicy) -> OpenAIEmbedder:
    return OpenAIEmbedder(client, "some-embedder", policy, batch_size=3)


def unit(text: str, dimension: int = 8) -> np.ndarray:
    vector = np.array(text_vector(text, dimension))
    return np.asarray(vector / np.linalg.norm(vector))


def test_texts_are_embedded_in_batches_and_in_order(
    embedder: OpenAIEmbedder, server: ChatServer, meter: FakeMeter
) -> None:
    texts = [f"text {number}" for number in range(7)]

    vectors = embedder.embed(texts)

    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    assert vectors.dtype == np.float32
    assert [len(body["input"]) for body in server.bodies] == [3, 3, 1]
    assert {(call.budget, call.purpose) for call in meter.calls} == {("chat", "embed")}
    assert meter.calls[0].settled == [("answered", 200, 21, 0)]


def test_the_index_decides_about_the_order(embedder: OpenAIEmbedder, server: ChatServer) -> None:
    server.enqueue(embeddings([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]], order=[2, 0, 1]))

    vectors = embedder.embed(["a", "b", "c"])

    np.testing.assert_allclose(vectors, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], atol=1e-6)


def test_an_empty_text_is_sent_as_a_blank(embedder: OpenAIEmbedder, server: ChatServer) -> None:
    embedder.embed(["", "a"])

    assert server.bodies[0]["input"] == [" ", "a"]


def test_a_well_known_model_needs_no_probe(
    client: openai.OpenAI, policy: RetryPolicy, server: ChatServer
) -> None:
    embedder = OpenAIEmbedder(client, "text-embedding-3-large", policy)

    assert (embedder.identity.name, embedder.identity.dimension) == (
        "openai:text-embedding-3-large",
        3072,
    )
    assert embedder.embed([]).shape == (0, 3072)
    assert server.requests == 0


def test_an_unknown_model_is_probed_once(embedder: OpenAIEmbedder, server: ChatServer) -> None:
    assert embedder.identity.dimension == 8
    assert embedder.identity.dimension == 8
    assert server.requests == 1


def test_the_first_answer_makes_the_probe_unnecessary(
    embedder: OpenAIEmbedder, server: ChatServer
) -> None:
    embedder.embed(["a"])

    assert embedder.identity.dimension == 8
    assert server.requests == 1


def test_a_configured_dimension_is_asked_for(
    client: openai.OpenAI, policy: RetryPolicy, server: ChatServer
) -> None:
    embedder = OpenAIEmbedder(client, "text-embedding-3-small", policy, dimension=5)

    assert embedder.embed(["a"]).shape == (1, 5)
    assert server.bodies[0]["dimensions"] == 5


@pytest.mark.parametrize(
    "too_long",
    [
        Answer(status=413, body="<html>Request Entity Too Large</html>"),
        Answer(status=400, body={"error": {"message": "maximum context length is 8192 tokens"}}),
        Answer(status=422, body={"error": "batch size 3 > maximum allowed batch size 1"}),
    ],
)
def test_a_batch_that_is_too_long_is_halved(
    embedder: OpenAIEmbedder, server: ChatServer, too_long: Answer
) -> None:
    def answer(request: Json) -> Answer | str:
        return too_long if len(request["input"]) > 1 else answer_by_default(request)

    server.answerer = answer
    texts = ["a", "b", "c"]

    vectors = embedder.embed(texts)

    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    assert [len(body["input"]) for body in server.bodies] == [3, 1, 2, 1, 1]


def test_a_single_text_that_is_too_long_is_an_error(
    embedder: OpenAIEmbedder, server: ChatServer
) -> None:
    server.answerer = lambda _request: Answer(status=413)

    with pytest.raises(RequestTooLargeError):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (embeddings([[1.0, 0.0]]), "1 vectors came for 2 texts"),
        (embeddings([[1.0], [1.0]], order=[0, 0]), "2 vectors came for 2 texts"),
        (embeddings([[1.0, 0.0], [1.0]]), "equally long"),
        (embeddings([[], []]), "zero or not finite"),
        (embeddings([[1.0, 0.0], [0.0, 0.0]]), "zero or not finite"),
        (embeddings([[1.0, 0.0], [float("nan"), 0.0]]), "zero or not finite"),
        (embeddings([[1.0, 0.0], [1e999, 0.0]]), "zero or not finite"),
        (Answer(body={"data": [{"index": 0}, {"index": 1}]}), "vectors of shape"),
        (Answer(body={"data": ["a", "b"]}), "2 vectors came"),
        (Answer(body={"data": []}), "0 vectors came"),
        (Answer(body={"data": None}), "not-an-answer"),
        (Answer(body={}), "not-an-answer"),
        (Answer(body="plain text"), "not-json"),
    ],
)
def test_vectors_that_cannot_be_right_are_refused(
    embedder: OpenAIEmbedder, server: ChatServer, answer: Answer, problem: str
) -> None:
    server.enqueue(answer)

    with pytest.raises(InvalidAnswerError, match=problem):
        embedder.embed(["a", "b"])

    assert server.requests == 1


def test_a_service_that_changes_its_dimension_is_refused(
    embedder: OpenAIEmbedder, server: ChatServer
) -> None:
    embedder.embed(["a"])
    server.enqueue(embeddings([[1.0, 0.0]]))

    with pytest.raises(InvalidAnswerError, match=r"shape \(1, 2\) came instead of \(1, 8\)"):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    "item",
    [
        {"index": [0], "embedding": [1.0]},
        {"index": {"a": 0}, "embedding": [1.0]},
        {"index": 0, "embedding": [10**400]},
        {"index": 0, "embedding": {"a": 1}},
    ],
)
def test_fields_of_another_kind_are_an_invalid_answer(
    embedder: OpenAIEmbedder, server: ChatServer, meter: FakeMeter, item: Json
) -> None:
    server.answerer = lambda _request: Answer(body={"object": "list", "data": [item]})

    with pytest.raises(ProviderError):
        embedder.embed(["a"])

    assert all(call.settled for call in meter.calls)
