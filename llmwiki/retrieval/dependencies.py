"""What a retrieval works with, put together once by the bootstrap."""

from dataclasses import dataclass, field

from sqlalchemy import Engine

from llmwiki.config import RerankSettings, RetrievalSettings
from llmwiki.ports import ChatModel, Clock, Embedder, Reranker
from llmwiki.retrieval.evidence.plan_files import PlanLibrary


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The collaborators and settings of a retrieval; without a model or a reranker it is free."""

    engine: Engine
    embedder: Embedder
    clock: Clock
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    reranker: Reranker | None = None
    model: ChatModel | None = None
    plans: PlanLibrary = field(default_factory=PlanLibrary)
    """The evidence that known shapes of questions need."""
