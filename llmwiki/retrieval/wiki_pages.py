"""The wiki tier: pages that fit the question, beside the chunks and never in their place."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from llmwiki.config import RetrievalSettings
from llmwiki.domain import ChunkId, Collection, PageId
from llmwiki.retrieval.embedding import QuestionVector
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.normalisation import standard_scale
from llmwiki.store import page_search
from llmwiki.store.page_search import FoundPage, FoundStatement
from llmwiki.store.promotions import wiki_gate
from llmwiki.text.tokens import count_tokens

WikiUse = Literal["gate", "on", "off"]
"""``gate``: as the gate of each collection says; ``on``: even through a closed gate."""

STATEMENT_TOKENS = 250
"""Of one page's statements in a context; the page itself is one command away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesDetail(Detail):
    """Which pages were added, by slug."""

    kind: Literal["pages"] = "pages"
    added: tuple[str, ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPage:
    """A page of the wiki in a context: its summary, and the statements that fit the question."""

    page: FoundPage
    collection: str
    score: float
    statements: tuple[FoundStatement, ...]
    tokens: int

    @property
    def affected(self) -> tuple[FoundStatement, ...]:
        """The statements whose sources moved since they were written."""
        return tuple(statement for statement in self.statements if statement.affected)

    @property
    def cited(self) -> tuple[ChunkId, ...]:
        """The chunks that the statements cite."""
        cited = (id_ for statement in self.statements for id_ in statement.chunk_ids)
        return tuple(dict.fromkeys(cited))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """A question as pages are searched for it."""

    vector: QuestionVector | None
    weights: Mapping[str, float]
    """The rarity of each lexeme of the question."""


def find_pages(
    connection: Connection,
    collections: Sequence[Collection],
    question: PageQuestion,
    settings: RetrievalSettings,
    use: WikiUse,
    trace: Trace,
) -> tuple[ContextPage, ...]:
    """Return the pages that fit best, as many as there are slots, where the gate is open."""
    with trace.step("pages") as step:
        if use == "off" or not settings.page_slots:
            step.skip("off", "the wiki is switched off for this question")
            return ()
        gates = [wiki_gate(connection, of, max_age=settings.lint_max_age) for of in collections]
        opened = [
            of for of, gate in zip(collections, gates, strict=True) if use == "on" or gate.is_open
        ]
        if not opened:
            step.skip("gate", f"the gate of the wiki is closed: {gates[0].message}")
            return ()
        found = [page for of in opened for page in _find(connection, of, question, settings)]
        best = sorted(found, key=lambda page: (-page.score, page.page.id))[: settings.page_slots]
        if not best:
            step.skip("empty", "no page fits the question")
        else:
            stale = tuple(page.page.slug for page in best if page.page.stale)
            step.done(PagesDetail(added=tuple(page.page.slug for page in best), stale=stale))
        return tuple(best)


def _find(
    connection: Connection,
    collection: Collection,
    question: PageQuestion,
    settings: RetrievalSettings,
) -> Iterable[ContextPage]:
    tiers: list[Mapping[PageId, float]] = []
    if question.vector is not None and question.vector.space == collection.embedder:
        values = question.vector.values
        tiers.append(page_search.page_vector_scores(connection, collection, values))
    if question.weights:
        tiers.append(page_search.page_word_scores(connection, collection, question.weights))
    scores = score_pages([tier for tier in tiers if tier])
    best = sorted(scores, key=lambda page_id: (-scores[page_id], page_id))[: settings.page_slots]
    pages = page_search.read_pages(connection, best)
    statements: dict[PageId, list[FoundStatement]] = defaultdict(list)
    for statement in page_search.page_statements(connection, collection, best, question.weights):
        statements[statement.page_id].append(statement)
    for page_id in (each for each in best if each in pages):  # one may have gone meanwhile
        chosen = choose_statements(statements[page_id])
        yield ContextPage(
            page=pages[page_id],
            collection=collection.name,
            score=scores[page_id],
            statements=chosen,
            tokens=sum(count_tokens(statement.text) for statement in chosen),
        )


def score_pages(tiers: Sequence[Mapping[PageId, float]]) -> dict[PageId, float]:
    """Return the mean standard score of each page over the tiers; no words found are worth 0."""
    pages = {page_id for tier in tiers for page_id in tier}
    completed = [{page_id: tier.get(page_id, 0.0) for page_id in pages} for tier in tiers]
    scales = [standard_scale(tier.values()) for tier in completed]
    return {
        page_id: sum(
            scale.place(tier[page_id]) for scale, tier in zip(scales, completed, strict=True)
        )
        / len(tiers)
        for page_id in pages
    }


def choose_statements(statements: Sequence[FoundStatement]) -> tuple[FoundStatement, ...]:
    """Return the summary and the statements that fit best, within the tokens, in page order."""
    ranked = sorted(statements, key=lambda each: (each.role != "tldr", -each.score, each.position))
    chosen: list[FoundStatement] = []
    tokens = 0
    for statement in ranked:
        # A short page says its summary again as its first statement.
        if any(statement.text == each.text for each in chosen):
            continue
        size = count_tokens(statement.text)
        fits = tokens + size <= STATEMENT_TOKENS and (statement.score > 0 or not chosen)
        if statement.role == "tldr" or fits:
            chosen.append(statement)
            tokens += size
    return tuple(sorted(chosen, key=lambda statement: statement.position))
