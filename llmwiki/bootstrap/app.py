"""The program: from settings to parts that know each other by their ports."""

from dataclasses import dataclass, field
from functools import cached_property

from sqlalchemy import Engine

from llmwiki.answering.service import Answering
from llmwiki.bootstrap.opening import (
    open_chat,
    open_embedder,
    open_generator,
    open_reranker,
    pack_limits,
)
from llmwiki.closing import ClosedAfterUse
from llmwiki.compiler.drafts.extractive import ExtractiveGenerator
from llmwiki.compiler.packs import PackLimits
from llmwiki.config import Settings
from llmwiki.domain import RunId
from llmwiki.ports import ChatModel, Clock, Embedder, Generator, Reranker
from llmwiki.providers.clock import SystemClock
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.evidence.service import open_plans
from llmwiki.store.engine import Database, open_database
from llmwiki.store.ledger import BudgetLimits, LedgerMeter
from llmwiki.store.migrations import require_current_schema


@dataclass(kw_only=True)
class App(ClosedAfterUse):
    """The parts of one process. What is expensive to open is opened when first asked for."""

    settings: Settings
    database: Database
    clock: Clock = field(default_factory=SystemClock)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    @property
    def engine(self) -> Engine:
        """The database's engine."""
        return self.database.engine

    @cached_property
    def limits(self) -> BudgetLimits:
        """The caps of the ledger; a night's compile has a share of the chat budget."""
        budget = self.settings.budget
        caps = {
            "chat": budget.chat_calls_per_day,
            "chat/compile": budget.chat_calls_per_night,
            "embed": budget.embed_calls_per_day,
        }
        if budget.chat_calls_for_questions is not None:
            caps["chat/question"] = budget.chat_calls_for_questions
        if self.settings.rerank.costs_calls:
            caps["rerank"] = budget.rerank_calls_per_day
        return BudgetLimits(caps=caps, time_zone=budget.time_zone)

    @cached_property
    def meter(self) -> LedgerMeter:
        """The ledger, for every provider of this process."""
        return LedgerMeter(engine=self.engine, limits=self.limits)

    @cached_property
    def embedder(self) -> Embedder:
        """The configured embedder."""
        return open_embedder(self.settings, self.meter, self.clock)

    @cached_property
    def drafts(self) -> Generator:
        """The generator that costs no call."""
        return ExtractiveGenerator()

    @cached_property
    def generator(self) -> Generator:
        """The configured generator."""
        return open_generator(self.settings, self.meter, self.clock)

    @cached_property
    def packing(self) -> PackLimits:
        """How many topics go into one request."""
        return pack_limits(self.settings)

    @cached_property
    def question_embedder(self) -> Embedder:
        """The configured embedder as a question uses it: someone is waiting."""
        if self.settings.embedder.provider != "openai":
            return self.embedder
        patience = self.settings.retrieval.provider_timeout
        return open_embedder(self.settings, self.meter, self.clock, patience=patience)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The configured reranker; None where the fused order stands."""
        return open_reranker(self.settings, self.meter, self.clock)

    @cached_property
    def retrieval(self) -> Parts:
        """What answers to questions are found with."""
        settings = self.settings
        return Parts(
            engine=self.engine,
            embedder=self.question_embedder,
            clock=self.clock,
            settings=settings.retrieval,
            rerank=settings.rerank,
            reranker=self.reranker,
            model=self._question_model(settings.retrieval.provider_timeout),
            plans=open_plans(settings.retrieval),
        )

    @cached_property
    def answering(self) -> Answering:
        """What questions are answered with."""
        chosen = self.settings.answer
        return Answering(
            retrieval=self.retrieval,
            limits=self.limits,
            gate=self.settings.compile.gate,
            settings=chosen,
            model=self._question_model(chosen.request_timeout) if chosen.use_model else None,
        )

    def _question_model(self, patience: float) -> ChatModel | None:
        generator = self.settings.generator
        if generator.provider == "extractive" or generator.model is None:
            return None
        return open_chat(self.settings, self.meter, self.clock, patience=patience)

    def work_for(self, run_id: RunId, *, chat_calls: int | None = None) -> None:
        """Book the calls from now on upon a run, and cap them where a number is given."""
        self.meter.begin_run(run_id, {} if chat_calls is None else {"chat": chat_calls})


def build(settings: Settings, *, check_schema: bool = True) -> App:
    """Open the database and wire the program.

    Raises ConfigurationError, DatabaseUnreachableError, and SchemaMismatchError unless told
    not to check (for the commands that migrate and diagnose).
    """
    database = open_database(settings.database_url)
    try:
        if check_schema:
            require_current_schema(database.engine)
    except BaseException:
        database.close()
        raise
    return App(settings=settings, database=database)
