"""Does what `llmwiki evaluate` asks for: brings corpora into collections, and opens retrievers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jobs import exit_codes
from jobs.runner import JobContext, JobOptions, JobResult, run_job
from llmwiki.bootstrap import App
from llmwiki.cli.progress import progress_bar
from llmwiki.cli.selection import select_one
from llmwiki.domain import Collection
from llmwiki.errors import UsageError
from llmwiki.evaluation.configurations import Configuration
from llmwiki.evaluation.corpus import OWNER, LoadedCorpus, load_corpus, match_corpus
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.evaluation import Evaluation, Task
from llmwiki.evaluation.retrievers import ProductRetriever, RememberingEmbedder
from llmwiki.evaluation.service import Plan, evaluate
from llmwiki.overview.service import refresh_overview
from llmwiki.retrieval.dependencies import Parts
from llmwiki.retrieval.evidence.finding import open_plans


def load_tasks(app: App, datasets: Sequence[Dataset], *, with_topics: bool) -> tuple[Task, ...]:
    """Ingest each corpus into a collection of its own."""
    return tuple(
        Task(dataset=dataset, corpus=_load(app, dataset, with_topics=with_topics))
        for dataset in datasets
    )


def match_tasks(
    app: App, datasets: Sequence[Dataset], name: str, owner: str | None
) -> tuple[Task, ...]:
    """Find the judged documents in a collection that exists.

    Raises UnknownNameError or UsageError where the collection or a document is missing.
    """
    with app.engine.connect() as connection:
        collection = select_one(connection, name, owner)
    return tuple(
        Task(dataset=dataset, corpus=match_corpus(app.engine, collection, dataset))
        for dataset in datasets
    )


def require_free(configurations: Iterable[Configuration]) -> None:
    """Raise UsageError for a configuration whose reranking costs calls."""
    for configuration in configurations:
        if configuration.rerank.costs_calls:
            provider = configuration.rerank.provider
            raise UsageError(
                f"{configuration.name}: rerank.provider is {provider}, which costs calls for each "
                "question; add --spend, or --set rerank.provider=fusion"
            )


def _load(app: App, dataset: Dataset, *, with_topics: bool) -> LoadedCorpus:
    """Ingest the corpus, under the lease that an ingest of the collection takes."""
    loaded: list[LoadedCorpus] = []

    def body(context: JobContext) -> JobResult:
        work = context.app
        with progress_bar(dataset.name) as report:
            corpus = load_corpus(
                work.engine,
                work.embedder,
                work.settings.ingest,
                dataset,
                exact_below=work.settings.retrieval.exact_below,
                progress=report,
            )
        if with_topics:
            refresh_overview(work.engine, work.embedder, work.settings.overview, corpus.collection)
        loaded.append(corpus)
        return JobResult(exit_code=exit_codes.DONE, facts={})

    run_job(app, f"ingest:{OWNER}/{dataset.name}", JobOptions(collections=()), body)
    return loaded[0]


def _parts(app: App, configuration: Configuration, *, spend: bool) -> Parts:
    """Return what the configuration retrieves with; each embeds for itself, so that times count."""
    settings = app.settings.model_copy(update={"rerank": configuration.rerank})
    reranking = App(settings=settings, database=app.database, clock=app.clock)
    return replace(
        app.retrieval,
        embedder=RememberingEmbedder(app.retrieval.embedder),
        settings=configuration.retrieval,
        plans=open_plans(configuration.retrieval),
        rerank=configuration.rerank,
        reranker=reranking.reranker,
        model=app.retrieval.model if spend else None,
    )


def evaluate_plan(app: App, plan: Plan, *, spend: bool) -> Evaluation:
    """Ask and measure; only with ``spend`` may that cost calls. Raises what ``evaluate`` does."""
    plans = open_plans(app.settings.retrieval)

    def open_retriever(configuration: Configuration, collection: Collection) -> ProductRetriever:
        return ProductRetriever(
            parts=_parts(app, configuration, spend=spend),
            configuration=configuration,
            collection=collection,
            plans=plans,
        )

    with progress_bar("evaluate") as report:
        return evaluate(plan, open_retriever, app.embedder.identity, app.clock, progress=report)
