"""The door of retrieval: from a question to a context, every step told as events.

The question goes two ways. Its general form, where there is one, is embedded; the question as it
was asked is what words and identifiers are taken from, and what relevance is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection
from llmwiki.errors import UsageError
from llmwiki.retrieval.anchor import Anchor, find_anchors
from llmwiki.retrieval.assembly import SURROUNDED, Assembly, Selection, assemble, fitting
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.context import Context, ContextDetail
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.embedding import embed_question
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.evidence.service import Restored, restore_families
from llmwiki.retrieval.evidence_check import has_evidence
from llmwiki.retrieval.gathering import Asked, Ranked, rank
from llmwiki.retrieval.pool import judge_others
from llmwiki.retrieval.question import Route, check_question, trace_route
from llmwiki.retrieval.step_back import maybe_step_back
from llmwiki.retrieval.table_headers import TableHeaders, read_table_headers
from llmwiki.retrieval.wiki_pages import ContextPage, PageQuestion, WikiUse, find_pages
from llmwiki.store.collections import select_collections
from llmwiki.store.found_chunks import chunks_beside
from llmwiki.text.tokens import count_tokens

LED_TO_PER_PAGE = 5
"""Chunks that a page cites and no tier found, added at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was found for a question, with what stands beside the chunks."""

    ranked: Ranked
    restored: Restored
    anchors: tuple[Anchor, ...]
    pages: tuple[ContextPage, ...]
    is_evidence: bool

    @property
    def shown(self) -> tuple[Candidate, ...]:
        """The chunks of the context: what is kept, and what would be without families."""
        together = {each.id: each for each in (*self.restored.kept, *self.ranked.flat)}
        return tuple(together.values())


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
    hear them as they happen. Raises UsageError for a question that is empty or far too long, and
    where there is no collection; UnknownNameError for names that nothing has.
    """
    checked = check_question(question)
    trace = trace or Trace(parts.clock)
    collections = _select(parts, collection, owners)
    route = trace_route(checked, trace)
    embed_query = maybe_step_back(checked, collections, parts, trace) or checked
    asked = Asked(
        question=checked,
        collections=collections,
        embed_query=embed_query,
        vector=embed_question(embed_query, collections, parts.embedder, trace),
        trace=trace,
    )
    ranked = rank(asked, parts)
    with parts.engine.connect() as connection:
        found = _complete(connection, asked, ranked, parts, route, wiki)
        assembly = _assemble(connection, asked, found, parts)
    return Context(
        question=checked,
        route=route,
        embed_query=embed_query,
        rerank_query=checked,
        ranking=found.restored.kept,
        witnesses=found.ranked.graded.protected,
        blocks=assembly.blocks,
        pages=assembly.pages,
        anchors=assembly.anchors,
        has_evidence=found.is_evidence,
        missing_families=found.restored.missing,
        tokens=assembly.tokens,
        events=trace.events,
    )


def _select(parts: Parts, name: str | None, owners: Sequence[str] | None) -> tuple[Collection, ...]:
    with parts.engine.connect() as connection:
        collections = select_collections(connection, name=name, owners=owners)
    if not collections:
        raise UsageError("there is no collection yet; run `llmwiki ingest PATH --collection NAME`")
    return collections


def _complete(
    connection: Connection,
    asked: Asked,
    ranked: Ranked,
    parts: Parts,
    route: Route,
    wiki: WikiUse,
) -> _Found:
    """Restore evidence that the budget would cut, and find what stands beside the chunks."""
    settings = parts.settings
    kept = ranked.graded.reserved.kept
    restored = restore_families(
        ranked.graded, fitting(kept, token_budget=settings.token_budget), asked.trace
    )
    question = PageQuestion(vector=asked.vector, weights=ranked.pool.words.lexemes)
    return _Found(
        ranked=ranked,
        restored=restored,
        anchors=find_anchors(connection, asked.collections, route, asked.trace),
        pages=find_pages(connection, asked.collections, question, settings, wiki, asked.trace),
        is_evidence=has_evidence(
            connection, restored.kept, ranked.pool, asked.collections, asked.trace
        ),
    )


def _assemble(connection: Connection, asked: Asked, found: _Found, parts: Parts) -> Assembly:
    budget = parts.settings.token_budget
    with asked.trace.step("context") as step:
        chunks = [candidate.chunk for candidate in found.shown]
        left = max(budget - sum(chunk.token_count for chunk in chunks), 0)
        headers = read_table_headers(connection, chunks)
        best = [chunk.id for chunk in chunks[:SURROUNDED]]
        assembly = assemble(
            Selection(
                found=found.shown,
                protected=found.ranked.graded.protected,
                anchors=found.anchors,
                pages=found.pages,
                led_to=_led_to(connection, found),
                sections=chunks_beside(connection, best, tokens=left),
            ),
            # Rows can't be read without their header: it takes room before what is beside them.
            token_budget=budget - min(headers.tokens(chunks), left),
        )
        assembly = _with_headers(assembly, headers, budget)
        detail = ContextDetail(
            chunks=sum(len(block.chunks) for block in assembly.blocks),
            surroundings=assembly.surroundings,
            pages=len(assembly.pages),
            tokens=assembly.tokens,
            token_budget=budget,
            cut=assembly.cut,
        )
        if assembly.blocks:
            step.done(detail)
        else:
            step.skip("empty", "no chunk was found", detail=detail)
    return assembly


def _with_headers(assembly: Assembly, headers: TableHeaders, budget: int) -> Assembly:
    blocks = headers.complete(assembly.blocks, tokens=budget - assembly.tokens)
    taken = sum(count_tokens(block.table_header) for block in blocks)
    return replace(assembly, blocks=blocks, tokens=assembly.tokens + taken)


def _led_to(connection: Connection, found: _Found) -> tuple[Candidate, ...]:
    """Follow the pages down to chunks that no tier brought into the context."""
    shown = {candidate.id for candidate in found.shown}
    pool = found.ranked.pool
    pooled = {candidate.id: candidate for candidate in pool.candidates}
    led_to: dict[ChunkId, Candidate] = {}
    for page in found.pages:
        cited = [chunk_id for chunk_id in page.cited if chunk_id not in shown]
        known = [pooled[chunk_id] for chunk_id in cited if chunk_id in pooled]
        others = judge_others(connection, pool, cited)
        best = sorted((*known, *others), key=lambda each: (-each.score, each.id))
        led_to |= {candidate.id: candidate for candidate in best[:LED_TO_PER_PAGE]}
    return tuple(led_to.values())
