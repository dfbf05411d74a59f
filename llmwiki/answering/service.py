"""Answers a question: retrieves, asks the model when a call is free, and checks what it says.

The model never decides whether there is an answer: without it, or when it fails, the chunks
themselves are the answer, with the reason and the time when the quota returns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llmwiki.answering.answer import Answer, AnswerDetail, NoModelReason
from llmwiki.answering.prompt import ANSWER_SCHEMA, build_messages
from llmwiki.answering.reading import ReadAnswer, read_answer
from llmwiki.config import AnswerSettings, GateLimits
from llmwiki.domain import Message, SourceChunk, Topic, TopicId, TopicSources, Usage
from llmwiki.errors import (
    BudgetExhaustedError,
    InvalidAnswerError,
    LlmwikiError,
    QuotaExhaustedError,
)
from llmwiki.grounding.gate import check_statements
from llmwiki.ports import ChatModel
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.events import OpenStep, Trace
from llmwiki.retrieval.failures import SURVIVED, as_told
from llmwiki.retrieval.service import retrieve
from llmwiki.retrieval.wiki_pages import WikiUse
from llmwiki.store.answer_cache import KeptAnswers
from llmwiki.store.ledger import BudgetLimits, budget_state
from llmwiki.text.hashing import content_hash

NOT_IN_CORPUS = "not in the corpus: nothing in it speaks of what was asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What answers are made with, put together by the bootstrap."""

    retrieval: Parts
    limits: BudgetLimits
    gate: GateLimits
    settings: AnswerSettings
    model: ChatModel | None


def answer_question(
    answering: Answering,
    question: str,
    *,
    owners: Sequence[str] | None = None,
    collection: str | None = None,
    wiki: WikiUse = "gate",
    trace: Trace | None = None,
) -> Answer:
    """Answer the question from the corpus, in a model's words where a call is free.

    Spends one chat call at most, beside what the retrieval spends, and none for a question that
    was answered lately from the same chunks. Raises what ``retrieve`` raises, and nothing for
    what a provider does.
    """
    trace = trace or Trace(answering.retrieval.clock)
    context = retrieve(
        answering.retrieval,
        question,
        owners=owners,
        collection=collection,
        wiki=wiki,
        trace=trace,
    )
    with trace.step("answer") as step:
        answer = _answer(answering, context, step)
    return replace(answer, events=trace.events)


def _answer(answering: Answering, context: Context, step: OpenStep) -> Answer:
    if not context.has_evidence:
        detail = AnswerDetail(method="not-in-corpus", statements=0, dropped=0)
        step.skip("no-evidence", NOT_IN_CORPUS, detail=detail)
        return Answer(
            context=context, method="not-in-corpus", reason="no-evidence", message=NOT_IN_CORPUS
        )
    if answering.model is None:
        if answering.settings.use_model:
            return _chunks(context, step, "no-model", "no model is configured")
        return _chunks(context, step, "switched-off", "answer.use_model is off")
    return _ask(answering, answering.model, context, step)


def _ask(answering: Answering, model: ChatModel, context: Context, step: OpenStep) -> Answer:
    messages = build_messages(context)
    key = _key(model, messages, context)
    answers = KeptAnswers(
        engine=answering.retrieval.engine, kind="answer", ttl=answering.settings.cache_ttl
    )
    usage = Usage()
    kept = answers.find(key)
    text = None if kept is None else str(kept.get("text"))
    from_cache = text is not None
    try:
        if text is None:
            text, usage = _complete(answering, model, messages)
        labels = {f"c{block.number}": block.chunk_ids for block in context.blocks}
        read = read_answer(text, labels)
    except (BudgetExhaustedError, QuotaExhaustedError) as error:
        return _without_quota(answering, context, step, error)
    except SURVIVED as error:
        told = as_told(error)
        spent = usage if usage.chat_calls else Usage(chat_calls=told.calls)
        step.fail(told, detail=_chunks_detail(), usage=spent)
        return Answer(context=context, method="chunks", reason="failed", message=str(told))
    if not from_cache:
        answers.keep(key, {"text": text})
    return _checked(answering, context, step, read, usage=usage, from_cache=from_cache)


def _key(model: ChatModel, messages: Sequence[Message], context: Context) -> str:
    """Return the hash of all that the model reads.

    The same chunks may be labelled and placed in another way, for another owner even, whose
    files are called differently. White space counts by the hashes of the chunks.
    """
    return content_hash(
        model.name,
        *(message["content"] for message in messages),
        *(chunk.content_hash for block in context.blocks for chunk in block.chunks),
    )


def _complete(
    answering: Answering, model: ChatModel, messages: Sequence[Message]
) -> tuple[str, Usage]:
    answer = model.complete(
        messages,
        json_schema=ANSWER_SCHEMA,
        max_output_tokens=answering.settings.max_output_tokens,
        purpose="question",
        subject="answer",
    )
    if answer.finish_reason == "length":
        error = InvalidAnswerError(
            "the answer was cut off for length; raise answer.max_output_tokens"
        )
        error.calls = answer.usage.chat_calls
        raise error
    return answer.text, answer.usage


def _checked(
    answering: Answering,
    context: Context,
    step: OpenStep,
    read: ReadAnswer,
    *,
    usage: Usage,
    from_cache: bool,
) -> Answer:
    kept, dropped = check_statements(read.statements, _sources(context), answering.gate)
    answered = read.answered and bool(kept)
    detail = AnswerDetail(
        method="model" if answered else "chunks",
        statements=len(kept) if answered else 0,
        dropped=len(dropped),
        from_cache=from_cache,
    )
    step.done(detail, usage=usage)
    if answered:
        return Answer(context=context, method="model", statements=kept, dropped=dropped)
    reason: NoModelReason = "unsupported" if read.answered and dropped else "not-answered"
    message = {
        "unsupported": "the chunks do not bear out what the model said",
        "not-answered": "the model found no answer in the chunks",
    }[reason]
    return Answer(context=context, method="chunks", dropped=dropped, reason=reason, message=message)


def _chunks(context: Context, step: OpenStep, reason: NoModelReason, message: str) -> Answer:
    step.skip(reason, message, detail=_chunks_detail())
    return Answer(context=context, method="chunks", reason=reason, message=message)


def _without_quota(
    answering: Answering, context: Context, step: OpenStep, error: LlmwikiError
) -> Answer:
    resets_at = getattr(error, "resets_at", None)
    if resets_at is None:
        with answering.retrieval.engine.connect() as connection:
            resets_at = budget_state(connection, "chat", answering.limits).resets_at
    step.skip("quota", str(error), detail=replace(_chunks_detail(), resets_at=resets_at))
    return Answer(
        context=context,
        method="chunks",
        reason="quota",
        message=str(error),
        resets_at=resets_at,
    )


def _chunks_detail() -> AnswerDetail:
    return AnswerDetail(method="chunks", statements=0, dropped=0)


def _sources(context: Context) -> TopicSources:
    """Return the chunks of the context in the form that the compiler's gate checks against.

    The header of a table counts for the chunk above which the model read it.
    """
    first = context.blocks[0].first
    return TopicSources(
        topic=Topic(
            id=TopicId(0),
            collection_id=first.collection_id,
            key="question",
            title=context.question,
        ),
        chunks=tuple(
            SourceChunk(
                id=chunk.id,
                document_path=chunk.document_path,
                breadcrumb=chunk.breadcrumb,
                text=block.readable_text(chunk),
                content_hash=chunk.content_hash,
                token_count=chunk.token_count,
            )
            for block in context.blocks
            for chunk in block.chunks
        ),
    )
