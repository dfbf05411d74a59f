"""Asks the product: a retriever over one collection in one configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from llmwiki.domain import Collection, EmbedderIdentity
from llmwiki.errors import UsageError
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.diversity import choose_diverse
from llmwiki.evaluation.retrieved import RankedChunk, Retrieved, Witness
from llmwiki.evaluation.running import CONTEXT_SIZES, DEPTH
from llmwiki.ports import Embedder, Vectors
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.evidence.authority import has_authority
from llmwiki.retrieval.evidence.details import FamiliesDetail
from llmwiki.retrieval.evidence.plan_files import PlanLibrary
from llmwiki.retrieval.evidence.plans import evidence_plan
from llmwiki.retrieval.service import retrieve
from llmwiki.store.vectors import read_vectors

NO_BUDGET = 1_000_000
"""Tokens. A ranking deeper than any context is for measuring, and nobody has to read it."""


class RememberingEmbedder:
    """Embeds a question once, though it is asked for several sizes of context.

    The first time, which is the one that is timed and counted, the embedder works.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._texts: tuple[str, ...] = ()
        self._vectors: Vectors | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """The vector space of the embedder that works."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the texts, from memory where they are the last ones asked for."""
        if self._vectors is None or self._texts != tuple(texts):
            self._vectors = self._embedder.embed(texts)
            self._texts = tuple(texts)
        return self._vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductRetriever:
    """Retrieves as `llmwiki search` does."""

    parts: Parts
    """With the reranker of the configuration."""
    configuration: Configuration
    collection: Collection
    plans: PlanLibrary = field(default_factory=PlanLibrary)
    """By which witnesses are judged, whether or not the configuration uses them."""

    def __call__(self, question: str, *, limit: int) -> Retrieved:
        """Return the best chunks; a question that cannot be asked comes with its problem."""
        diversity = self.configuration.diversity
        try:
            context = self._retrieve(question, limit if diversity is None else max(limit, DEPTH))
        except UsageError as error:
            return Retrieved(chunks=(), documents=frozenset(), problem=str(error))
        found = _retrieved(context, self.plans)
        return found if diversity is None else self._diverse(found, diversity, limit)

    def _retrieve(self, question: str, limit: int) -> Context:
        update = {"limit": limit}
        if limit > max(CONTEXT_SIZES):
            update["token_budget"] = NO_BUDGET
        settings = self.configuration.retrieval.model_copy(update=update)
        return retrieve(
            replace(self.parts, settings=settings),
            question,
            owners=[self.collection.owner],
            collection=self.collection.name,
            wiki=self.configuration.wiki,
        )

    def _diverse(self, found: Retrieved, relevance_weight: float, limit: int) -> Retrieved:
        with self.parts.engine.connect() as connection:
            ids = [chunk.chunk_id for chunk in found.chunks]
            vectors = read_vectors(connection, self.collection, ids)
        chosen = choose_diverse(found.chunks, vectors, relevance_weight, limit)
        documents = frozenset(chunk.document_path for chunk in chosen)
        return replace(found, chunks=chosen, documents=documents)


def _automatic_families(context: Context) -> tuple[str, ...]:
    return tuple(
        family.name
        for event in context.events
        if isinstance(event.detail, FamiliesDetail)
        for family in event.detail.families
        if family.origin != "plan"
    )


def _witnesses(context: Context, plans: PlanLibrary) -> tuple[Witness, ...]:
    """Judge the chunks of the families that plans ask for, whether families are on or off."""
    return tuple(
        Witness(
            family=family.name,
            authority_met=has_authority(
                candidate.chunk.authority_tier, family.authority, plans.tiers
            ),
        )
        for family in evidence_plan(context.question, plans.plans)
        if family.authority is not None
        for candidate in context.ranking
        if family.is_member(candidate.chunk)
    )


def _retrieved(context: Context, plans: PlanLibrary) -> Retrieved:
    ranking = tuple(
        RankedChunk(
            chunk_id=candidate.id,
            document_path=candidate.chunk.document_path,
            score=candidate.score,
        )
        for candidate in context.ranking
    )
    shown = (chunk for block in context.blocks for chunk in block.chunks)
    return Retrieved(
        chunks=ranking,
        documents=frozenset(chunk.document_path for chunk in shown),
        automatic_families=_automatic_families(context),
        witnesses=_witnesses(context, plans),
        usage=context.usage,
        events=tuple(event.facts() for event in context.events),
    )
