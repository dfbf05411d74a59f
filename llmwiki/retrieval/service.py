"""The door of retrieval: from a question to a context, every step told as events.

The question goes two ways. Its general form, where there is one, is embedded; the question as it
was asked is what words and identifiers are taken from, and what relevance is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.errors import UsageError
from llmwiki.retrieval.anchor import Anchor, find_anchors
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.context import (
    SURROUNDED,
    Assembly,
    Context,
    ContextDetail,
    Selection,
    assemble,
)
from llmwiki.retrieval.embedding import QuestionVector, embed_question
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.named_titles import follow_titles
from llmwiki.retrieval.parts import Parts
from llmwiki.retrieval.pool import Pool, find_candidates, judge_others
from llmwiki.retrieval.question import Route, check_question, trace_route
from llmwiki.retrieval.rerank import rerank
from llmwiki.retrieval.step_back import maybe_step_back
from llmwiki.retrieval.tier_opening import open_tiers
from llmwiki.retrieval.wiki_pages import ContextPage, PageQuestion, WikiUse, find_pages
from llmwiki.store.collections import select_collections
from llmwiki.store.passages import section_passages

LED_TO_PER_PAGE = 2
"""Passages that a page cites and no tier found, added at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question on its way."""

    question: str
    collections: tuple[Collection, ...]
    route: Route
    embed_query: str
    vector: QuestionVector | None
    trace: Trace
    wiki: WikiUse


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was found for it."""

    pool: Pool
    ranking: tuple[Candidate, ...]
    anchors: tuple[Anchor, ...]
    pages: tuple[ContextPage, ...]


def retrieve(
    parts: Parts,
    question: str,
    *,
    owners: Sequence[str] | None = None,
    collection: str | None = None,
    wiki: WikiUse = "gate",
    trace: Trace | None = None,
) -> Context:
    """Find what answers the question in the collections of that name and of those owners.

    Every question that can be asked gets a context, whatever providers do: a step that fails is
    told as an error and the others go on. ``trace`` takes the events, where the caller wants to
    hear them as they happen. Raises UsageError for a question that is empty or far
    too long, and where there is no collection; UnknownNameError for names that nothing has.
    """
    checked = check_question(question)
    trace = trace or Trace(parts.clock)
    with parts.engine.connect() as connection:
        collections = select_collections(connection, name=collection, owners=owners)
    if not collections:
        raise UsageError("there is no collection yet; run `llmwiki ingest PATH --collection NAME`")
    route = trace_route(checked, trace)
    embed_query = maybe_step_back(checked, collections, parts, trace) or checked
    asked = _Asked(
        question=checked,
        collections=collections,
        route=route,
        embed_query=embed_query,
        vector=embed_question(embed_query, collections, parts.embedder, trace),
        trace=trace,
        wiki=wiki,
    )
    with parts.engine.connect() as connection:
        pool = _gather(connection, asked, parts)
    ranking = rerank(
        checked,
        follow_titles(checked, pool.candidates, parts.settings, trace),
        top_n=parts.settings.limit,
        words=pool.words,
        parts=parts,
        trace=trace,
    )
    with parts.engine.connect() as connection:
        found = _Found(
            pool=pool,
            ranking=ranking,
            anchors=find_anchors(connection, collections, route, trace),
            pages=_pages(connection, asked, pool, parts),
        )
        assembly = _assemble(connection, asked, found, parts)
    return _context(asked, found, assembly)


def _gather(connection: Connection, asked: _Asked, parts: Parts) -> Pool:
    tiers = open_tiers(
        connection,
        asked.collections,
        asked.question,
        asked.vector,
        exact_below=parts.settings.exact_below,
    )
    return find_candidates(connection, tiers, parts.settings, asked.trace)


def _pages(
    connection: Connection, asked: _Asked, pool: Pool, parts: Parts
) -> tuple[ContextPage, ...]:
    vector = None if asked.vector is None else asked.vector.values
    question = PageQuestion(vector=vector, weights=pool.words.lexemes)
    return find_pages(
        connection, asked.collections, question, parts.settings, asked.wiki, asked.trace
    )


def _assemble(connection: Connection, asked: _Asked, found: _Found, parts: Parts) -> Assembly:
    budget = parts.settings.token_budget
    with asked.trace.step("context") as step:
        sections = {candidate.passage.section_id for candidate in found.ranking[:SURROUNDED]}
        assembly = assemble(
            Selection(
                found=found.ranking,
                anchors=found.anchors,
                pages=found.pages,
                led_to=_led_to(connection, found),
                sections=section_passages(connection, sections),
            ),
            token_budget=budget,
        )
        detail = ContextDetail(
            passages=sum(len(block.passages) for block in assembly.blocks),
            surroundings=assembly.surroundings,
            pages=len(assembly.pages),
            tokens=assembly.tokens,
            token_budget=budget,
            cut=assembly.cut,
        )
        if assembly.blocks:
            step.done(detail)
        else:
            step.skip("empty", "no passage was found", detail=detail)
    return assembly


def _led_to(connection: Connection, found: _Found) -> tuple[Candidate, ...]:
    """Follow the pages down to passages that no tier brought into the ranking."""
    ranked = {candidate.id for candidate in found.ranking}
    pooled = {candidate.id: candidate for candidate in found.pool.candidates}
    led_to: dict[ChunkId, Candidate] = {}
    for page in found.pages:
        cited = [chunk_id for chunk_id in page.cited if chunk_id not in ranked]
        known = [pooled[chunk_id] for chunk_id in cited if chunk_id in pooled]
        others = judge_others(connection, found.pool, cited)
        best = sorted((*known, *others), key=lambda each: (-each.score, each.id))
        led_to |= {candidate.id: candidate for candidate in best[:LED_TO_PER_PAGE]}
    return tuple(led_to.values())


def _context(asked: _Asked, found: _Found, assembly: Assembly) -> Context:
    return Context(
        question=asked.question,
        route=asked.route,
        embed_query=asked.embed_query,
        rerank_query=asked.question,
        ranking=found.ranking,
        blocks=assembly.blocks,
        pages=assembly.pages,
        anchors=assembly.anchors,
        has_evidence=bool(found.ranking),
        missing_families=(),
        tokens=assembly.tokens,
        events=asked.trace.events,
    )
