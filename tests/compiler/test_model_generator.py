import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from structlog.testing import capture_logs

from llmwiki.compiler.model_generator import ModelGenerator
from llmwiki.compiler.packs import PackLimits, request_tokens
from llmwiki.compiler.prompt import ANSWER_SCHEMA, build_messages
from llmwiki.domain import ChatAnswer, Message, TopicId, TopicSources, Usage
from llmwiki.ports import CallPurpose, Generator
from tests.compiler.samples import chunk, topic_sources

RELAY = topic_sources(1, "Relay", chunk(11, "The relay listens on port 7070."))
VALVE = topic_sources(2, "Valve", chunk(21, "A valve opens slowly."))
EMPTY = topic_sources(3, "Empty")


@dataclass
class ScriptedChat:
    text: str = '{"pages": []}'
    finish_reason: str = "stop"
    requests: list[dict[str, Any]] = field(default_factory=list)
    name: str = "small"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None,
        max_output_tokens: int,
        purpose: CallPurpose,
        subject: str,
    ) -> ChatAnswer:
        self.requests.append(
            {
                "messages": messages,
                "json_schema": json_schema,
                "max_output_tokens": max_output_tokens,
                "purpose": purpose,
                "subject": subject,
            }
        )
        return ChatAnswer(
            text=self.text,
            finish_reason=self.finish_reason,
            usage=Usage(chat_calls=2, input_tokens=7, output_tokens=3),
            model="small-2026",
        )


def page(topic: str, text: str, *sources: str) -> dict[str, Any]:
    return {
        "topic": topic,
        "title": "A page",
        "tldr": {"text": text, "sources": list(sources)},
        "tags": ["one"],
        "sections": [
            {
                "heading": "",
                "statements": [{"text": text, "kind": "prose", "sources": list(sources)}],
            }
        ],
    }


def answer(*pages: dict[str, Any]) -> str:
    return json.dumps({"pages": pages})


def generator(chat: ScriptedChat, limits: PackLimits | None = None) -> ModelGenerator:
    return ModelGenerator(chat=chat, limits=limits or PackLimits())


def test_one_request_asks_for_the_whole_pack() -> None:
    chat = ScriptedChat(
        answer(page("t1", "It listens.", "c1"), page("t2", "It opens slowly.", "c2"))
    )
    writer: Generator = generator(chat)

    generation = writer.generate([RELAY, VALVE])

    assert chat.requests == [
        {
            "messages": build_messages([RELAY, VALVE]),
            "json_schema": ANSWER_SCHEMA,
            "max_output_tokens": 8_000,
            "purpose": "compile",
            "subject": "topic-1, topic-2",
        }
    ]
    assert {
        topic_id: draft.sections[0].statements[0].chunk_ids
        for topic_id, draft in generation.drafts.items()
    } == {1: (11,), 2: (21,)}
    assert generation.usage == Usage(chat_calls=2, input_tokens=7, output_tokens=3)
    assert not generation.problems
    assert not generation.truncated


def test_a_stop_for_length_marks_the_generation_even_when_all_pages_are_whole() -> None:
    chat = ScriptedChat(answer(page("t1", "It listens.", "c1")), finish_reason="length")

    generation = generator(chat).generate([RELAY])

    assert generation.truncated
    assert set(generation.drafts) == {1}


def test_a_topic_without_chunks_is_not_asked_for() -> None:
    chat = ScriptedChat(answer(page("t1", "It opens slowly.", "c1")))

    generation = generator(chat).generate([EMPTY, VALVE])

    assert set(generation.drafts) == {2}
    assert set(generation.problems) == {3}
    assert chat.requests[0]["subject"] == "topic-2"


def test_nothing_is_spent_on_a_pack_without_chunks() -> None:
    chat = ScriptedChat()

    generation = generator(chat).generate([EMPTY])

    assert not chat.requests
    assert generation.usage == Usage()
    assert "no-sources" in generation.problems[TopicId(3)]


def test_the_subject_is_cut() -> None:
    chat = ScriptedChat()
    many = [topic_sources(number, "T", chunk(number, "Text.")) for number in range(100)]

    generator(chat).generate(many)

    assert len(chat.requests[0]["subject"]) == 200


def test_no_request_exceeds_the_input_limit_and_what_is_left_out_is_logged() -> None:
    chat = ScriptedChat()
    chunks = [chunk(number, "The relay keeps its state. " * 40) for number in range(30)]
    large: TopicSources = topic_sources(1, "Relay", *chunks)
    limits = PackLimits(max_input_tokens=3000)

    with capture_logs() as logs:
        generator(chat, limits).generate([large])

    assert request_tokens([large]) > 3000
    sent = sum(len(message["content"]) for message in chat.requests[0]["messages"])
    assert sent // 4 <= 3000
    (entry,) = logs
    assert entry["event"] == "compile.chunks_left_out"
    assert entry["left_out"] + entry["kept"] == 30


def test_the_identity_names_the_model_and_follows_it() -> None:
    small = generator(ScriptedChat()).identity
    large = ModelGenerator(chat=ScriptedChat(name="large"), limits=PackLimits()).identity

    assert (small.kind, small.name) == ("model", "openai:small")
    assert large.name == "openai:large"
    assert small.version == large.version
