"""Compiles one page: draft, gate, rendering. The drain adds the queue and the transaction."""

from dataclasses import dataclass

from llmwiki.compiler.fingerprint import recipe_hash, source_hash
from llmwiki.compiler.rendering import render_body
from llmwiki.config import GateLimits
from llmwiki.domain import (
    Generation,
    GeneratorIdentity,
    PageDraft,
    PageKind,
    TopicId,
    TopicSources,
)
from llmwiki.errors import InvalidAnswerError, UsageError
from llmwiki.grounding.gate import DroppedStatement, GateVerdict, check_draft
from llmwiki.ports import Generator
from llmwiki.store.compiled_page import CompiledPage
from llmwiki.store.embeddings import page_embedding_text
from llmwiki.text.hashing import content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPage:
    """A page that passed the gate, and the statements that did not."""

    page: CompiledPage
    dropped: tuple[DroppedStatement, ...]


class RefusedDraftError(InvalidAnswerError):
    """The gate refused the draft."""

    def __init__(
        self, draft: PageDraft, verdict: GateVerdict, generator: GeneratorIdentity
    ) -> None:
        super().__init__(verdict.refusal)
        self.draft = draft
        self.verdict = verdict
        self.generator = generator


def compile_page(
    sources: TopicSources, kind: PageKind, generator: Generator, limits: GateLimits
) -> CheckedPage:
    """Generate one page and pass it through the gate; nothing is written.

    Spends one chat call where the generator is a model. Raises InvalidAnswerError when the
    answer has no page, RefusedDraftError when the gate refuses it, and what the generator
    raises. The overview is written by the
    overview itself, without a generator, so another kind than ``page`` is a UsageError.
    """
    if kind != "page":
        raise UsageError("the overview is derived from the table of contents, not compiled")
    generation = generator.generate([sources])
    draft = draft_of(sources.topic.id, generation)
    return finish_page(draft, sources, generator.identity, limits, previous_length=0)


def draft_of(topic_id: TopicId, generation: Generation) -> PageDraft:
    """Return the topic's draft. Raises InvalidAnswerError with the reason why there is none."""
    draft = generation.drafts.get(topic_id)
    if draft is None:
        problem = generation.problems.get(topic_id)
        raise InvalidAnswerError(problem or "the answer has no page for this topic")
    return draft


def finish_page(
    draft: PageDraft,
    sources: TopicSources,
    generator: GeneratorIdentity,
    limits: GateLimits,
    *,
    previous_length: int,
) -> CheckedPage:
    """Check a draft and render it. Raises RefusedDraftError with the gate's reason."""
    verdict = check_draft(draft, sources, previous_length=previous_length, limits=limits)
    if verdict.draft is None:
        raise RefusedDraftError(draft, verdict, generator)
    accepted = verdict.draft
    text = page_embedding_text(accepted.title, accepted.tldr.text, accepted.tags)
    page = CompiledPage(
        title=accepted.title,
        topic_title=sources.topic.title,
        tldr=accepted.tldr,
        tags=accepted.tags,
        sections=accepted.sections,
        body=render_body(accepted.tldr, accepted.sections, sources.chunks),
        embedding_hash=content_hash(text),
        source_hash=source_hash(sources.chunks),
        recipe_hash=recipe_hash(generator),
        generator=generator,
    )
    return CheckedPage(page=page, dropped=verdict.dropped)
