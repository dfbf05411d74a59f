"""The generator that asks a model: one request for a pack, one draft for each of its topics."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from llmwiki.compiler.answer import read_answer
from llmwiki.compiler.packs import PackLimits, fit_pack
from llmwiki.compiler.prompt import ANSWER_SCHEMA, PROMPT_VERSION, SCHEMA_VERSION, build_messages
from llmwiki.domain import Generation, GeneratorIdentity, TopicSources
from llmwiki.ports import ChatModel
from llmwiki.text.hashing import content_hash

log = structlog.get_logger()

_LONGEST_SUBJECT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGenerator:
    """Writes pages by asking a model, in requests that stay within the limits."""

    chat: ChatModel
    limits: PackLimits

    @property
    def identity(self) -> GeneratorIdentity:
        """Changes with the model, the prompt and the schema, and with nothing else."""
        return GeneratorIdentity(
            kind="model",
            name=f"openai:{self.chat.name}",
            version=content_hash(PROMPT_VERSION, SCHEMA_VERSION)[:16],
        )

    def generate(self, pack: Sequence[TopicSources]) -> Generation:
        """Ask for the pages of the pack in one request; a topic without chunks is not asked.

        Raises what the chat model raises. Whatever it answers, pages that arrived whole become
        drafts and the others are problems.
        """
        fitted = fit_request([sources for sources in pack if sources.chunks], self.limits)
        problems = {
            sources.topic.id: "no-sources: the topic has no chunks"
            for sources in pack
            if not sources.chunks
        }
        if not fitted:
            return Generation(drafts={}, problems=problems)
        answer = self.chat.complete(
            build_messages(fitted),
            json_schema=ANSWER_SCHEMA,
            max_output_tokens=self.limits.max_output_tokens,
            purpose="compile",
            subject=", ".join(sources.topic.key for sources in fitted)[:_LONGEST_SUBJECT],
        )
        parsed = read_answer(answer.text, fitted)
        return Generation(
            drafts=parsed.drafts,
            problems={**problems, **parsed.problems},
            usage=answer.usage,
            truncated=parsed.truncated or answer.finish_reason == "length",
        )


def fit_request(pack: Sequence[TopicSources], limits: PackLimits) -> list[TopicSources]:
    """Return the pack as it fits a request; what had to stay out is logged."""
    fitted = fit_pack(pack, limits.max_input_tokens)
    for each in fitted:
        if each.left_out:
            log.warning(
                "compile.chunks_left_out",
                topic=each.sources.topic.key,
                left_out=each.left_out,
                kept=len(each.sources.chunks),
            )
    return [each.sources for each in fitted]
