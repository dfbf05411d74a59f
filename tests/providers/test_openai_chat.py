from typing import Any

import openai
import pytest

from llmwiki.domain import ChatAnswer, Usage
from llmwiki.errors import ConfigurationError, InvalidAnswerError, ProviderError
from llmwiki.providers.openai_chat import OpenAIChat
from llmwiki.providers.retries import RetryPolicy
from tests.providers.conftest import FakeMeter
from tests.support.chat_server import Answer, Answerer, ChatServer, Json, completion

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.fixture
def model(client: openai.OpenAI, policy: RetryPolicy) -> OpenAIChat:
    return OpenAIChat(client, "some-model", policy)


def ask(model: OpenAIChat, json_schema: dict[str, Any] | None = SCHEMA) -> ChatAnswer:
    return model.complete(
        [{"role": "user", "content": "hello"}],
        json_schema=json_schema,
        max_output_tokens=77,
        purpose="compile",
        subject="pack",
    )


def refusing(*names: str) -> Answerer:
    """Return an answerer of a service that knows none of these parameters."""

    def answer(request: Json) -> Answer:
        for name in names:
            if name in request:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return Answer(status=400, body={"error": {"message": message}})
        return completion("plain")

    return answer


def test_the_request_carries_schema_and_limit(model: OpenAIChat, server: ChatServer) -> None:
    answer = ask(model)

    assert answer == ChatAnswer(
        text="ok",
        finish_reason="stop",
        usage=Usage(chat_calls=1, input_tokens=10, output_tokens=5),
        model="test-model-2026",
    )
    assert server.bodies == [
        {
            "model": "some-model",
            "messages": [{"role": "user", "content": "hello"}],
            "max_completion_tokens": 77,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            },
        }
    ]


def test_no_schema_means_no_response_format(model: OpenAIChat, server: ChatServer) -> None:
    ask(model, json_schema=None)

    assert "response_format" not in server.bodies[0]


def test_a_service_without_schemas_is_asked_without_and_remembered(
    model: OpenAIChat, server: ChatServer, meter: FakeMeter
) -> None:
    server.answerer = refusing("response_format")

    assert ask(model).usage.chat_calls == 2
    assert ask(model).usage.chat_calls == 1

    assert ["response_format" in body for body in server.bodies] == [True, False, False]
    assert meter.outcomes == ["request-refused", "answered", "answered"]


def test_a_service_with_the_old_name_of_the_limit_is_remembered(
    model: OpenAIChat, server: ChatServer
) -> None:
    server.answerer = refusing("max_completion_tokens", "response_format")

    assert ask(model).usage.chat_calls == 3
    assert ask(model).usage.chat_calls == 1

    assert server.bodies[-1]["max_tokens"] == 77
    assert "max_completion_tokens" not in server.bodies[-1]


def test_a_service_that_refuses_everything_is_not_asked_forever(
    model: OpenAIChat, server: ChatServer
) -> None:
    message = "response_format and max_completion_tokens: no"
    server.answerer = lambda _request: Answer(status=400, body={"error": {"message": message}})

    with pytest.raises(ConfigurationError, match="response_format"):
        ask(model)

    assert server.requests == 3


def test_a_text_cut_off_by_length_is_left_to_the_caller(
    model: OpenAIChat, server: ChatServer
) -> None:
    server.enqueue(completion("half a", finish_reason="length"))

    answer = ask(model)

    assert (answer.text, answer.finish_reason) == ("half a", "length")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (completion(None, refusal="I cannot help with that"), "refused: I cannot help"),
        (completion("text", finish_reason="content_filter"), "content filter"),
        (completion(""), "empty"),
        (completion(None, finish_reason="length"), r"empty \(finish reason length"),
        (Answer(body={"choices": [{"message": {"content": "x"}}]}), "not-an-answer"),
        (Answer(body={"choices": [{"finish_reason": "stop"}]}), "not-an-answer"),
        (Answer(body={"choices": ["text"]}), "not-an-answer"),
        (Answer(body={"choices": "text"}), "not-an-answer"),
    ],
)
def test_an_answer_without_a_text_is_invalid(
    model: OpenAIChat, server: ChatServer, answer: Answer, problem: str
) -> None:
    server.enqueue(answer)

    with pytest.raises(InvalidAnswerError, match=problem):
        ask(model)

    assert server.requests == 1


def test_the_name_of_the_model_is_the_one_asked_for_when_the_answer_names_none(
    model: OpenAIChat, server: ChatServer
) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": "x"}}
    server.enqueue(Answer(body={"choices": [choice]}))

    assert ask(model).model == "some-model"


@pytest.mark.parametrize(
    "body",
    ["[" * 200_000, '{"choices": 9' + "9" * 5000 + "}", '{"choices": [', b"\xff\xfe"],
)
def test_a_body_that_the_client_breaks_on_is_an_attempt_that_failed(
    model: OpenAIChat, server: ChatServer, meter: FakeMeter, body: str | bytes
) -> None:
    server.answerer = lambda _request: Answer(
        body=body, headers={"Content-Type": "application/json"}
    )

    with pytest.raises(ProviderError):
        ask(model)

    assert server.requests == len(meter.calls)
    assert all(call.settled for call in meter.calls)


@pytest.mark.parametrize("count", [True, -1, "many", 1.5, None])
def test_a_usage_that_is_no_number_costs_no_answer(
    model: OpenAIChat, server: ChatServer, count: object
) -> None:
    answer = completion("fine")
    answer.body["usage"] = {"prompt_tokens": count, "completion_tokens": 7}
    server.enqueue(answer)

    given = ask(model)

    assert given.text == "fine"
    assert (type(given.usage.input_tokens), given.usage.output_tokens) == (int, 7)


def test_the_key_of_the_client_is_blanked_in_complaints(
    client: openai.OpenAI, policy: RetryPolicy, server: ChatServer
) -> None:
    key = "sk-abcdefghijkl"
    server.answerer = lambda _request: Answer(status=401, body={"error": {"message": key}})
    with pytest.raises(ConfigurationError, match=r"\[key\]"):
        ask(OpenAIChat(client.with_options(api_key=key), "some-model", policy))
