"""Chat completions of any compatible service, with a JSON schema where the service takes one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import openai
from openai.types.chat import ChatCompletion

from llmwiki.domain import ChatAnswer, Message, Usage
from llmwiki.errors import InvalidAnswerError
from llmwiki.ports import CallPurpose
from llmwiki.providers.classification import Verdict
from llmwiki.providers.retries import Exchange, RetryPolicy, call_with_retries

_SCHEMA_NAME = "answer"
_SCHEMA_REFUSED = re.compile(r"response[_ ]format|json[_ ]?schema|structured output|guided|grammar")
_LIMIT_NAME_REFUSED = re.compile(r"max_completion_tokens")


class OpenAIChat:
    """One model of one service.

    It asks in the way of the current OpenAI API and remembers what the service refuses: the
    schema, or the name of the output limit. The refusing attempt counts, once.
    """

    def __init__(self, client: openai.OpenAI, model: str, policy: RetryPolicy) -> None:
        self._client = client
        self.name = model
        self._policy = replace(policy, secret=client.api_key)
        self._takes_schema = True
        self._limit_name = "max_completion_tokens"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None,
        max_output_tokens: int,
        purpose: CallPurpose,
        subject: str,
    ) -> ChatAnswer:
        """Ask for one completion.

        The schema is a request, not a promise: services ignore it, or are asked without it after
        a refusal, so the prompt must describe the format too and the caller must validate.
        Raises what ``call_with_retries`` raises; InvalidAnswerError also for a refusal, a filter
        and an empty text.
        """
        result = call_with_retries(
            Exchange(
                send=lambda: self._send(messages, json_schema, max_output_tokens),
                read=_read_answer,
                adapt=self._adapt,
            ),
            policy=self._policy,
            purpose=purpose,
            subject=subject,
        )
        text, finish_reason, model = result.value
        usage = Usage(
            chat_calls=result.attempts,
            input_tokens=result.tokens.input,
            output_tokens=result.tokens.output,
        )
        return ChatAnswer(
            text=text, finish_reason=finish_reason, usage=usage, model=model or self.name
        )

    def _send(
        self,
        messages: Sequence[Message],
        json_schema: Mapping[str, Any] | None,
        max_output_tokens: int,
    ) -> object:
        options: dict[str, Any] = {self._limit_name: max_output_tokens}
        if json_schema is not None and self._takes_schema:
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": _SCHEMA_NAME, "strict": True, "schema": dict(json_schema)},
            }
        return self._client.chat.completions.create(
            model=self.name, messages=cast("Any", list(messages)), **options
        )

    def _adapt(self, verdict: Verdict) -> bool:
        if verdict.status not in {400, 422} or verdict.kind != "stop-configuration":
            return False
        said = verdict.message.lower()
        if self._limit_name != "max_tokens" and _LIMIT_NAME_REFUSED.search(said):
            self._limit_name = "max_tokens"
            return True
        if self._takes_schema and _SCHEMA_REFUSED.search(said):
            self._takes_schema = False
            return True
        return False


def _read_answer(answer: object) -> tuple[str, str, str] | None:
    """Return text, finish reason and model; None for what is no completion at all."""
    if not isinstance(answer, ChatCompletion) or not answer.choices:
        return None
    choice = answer.choices[0]
    # The client does not validate: any field may be missing or of another type.
    message = getattr(choice, "message", None)
    finish_reason = getattr(choice, "finish_reason", None)
    if message is None or not isinstance(finish_reason, str) or finish_reason == "error":
        return None
    if finish_reason == "content_filter":
        raise InvalidAnswerError("the service's content filter withheld the answer")
    refusal = getattr(message, "refusal", None)
    if refusal:
        raise InvalidAnswerError(f"the model refused: {str(refusal)[:200]}")
    text = getattr(message, "content", None)
    if not isinstance(text, str) or not text.strip():
        raise InvalidAnswerError(f"the answer is empty (finish reason {finish_reason})")
    model = getattr(answer, "model", None)
    return text, finish_reason, model if isinstance(model, str) else ""
