"""Asks the questions of a dataset, and turns chunks into documents.

Each question is asked once for every size of context that is needed, because what is reserved
for families depends on how many chunks there are: four of ten are not the four of a context of
four. The first time is the one whose time, calls and tokens are reported, since what a model
answered may be kept for the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.retrieved import RankedChunk, Retrieved, Retriever
from llmwiki.ports import Clock

CONTEXT_SIZES = (10, 4)
"""Chunks of the contexts whose completeness is measured; the first is the one that is timed."""

DEPTH = 50
"""Chunks of the ranking, so that ten documents are among them though each has several."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedDocument:
    """A document at the place of its best chunk."""

    id: str
    score: float
    """Of its best chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The documents of a context of so many chunks."""

    ranking: tuple[str, ...]
    """By their best chunks in the final order."""
    added: tuple[str, ...]
    """Those that only the pages of the wiki brought, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one question brought."""

    ranking: tuple[RankedDocument, ...]
    """All documents of the deep ranking, or of the timed one without it; the best first."""
    contexts: Mapping[int, Contents]
    """By the number of chunks."""
    retrieved: Retrieved
    """Of the context that was timed."""
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One configuration over one dataset."""

    configuration: str
    dataset: Dataset
    answers: Mapping[str, Answer]
    """By the question's id, in the order of the dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What is asked for beside the context that is timed."""

    contexts: tuple[int, ...] = CONTEXT_SIZES[1:]
    """By the number of chunks."""
    depth: int | None = DEPTH
    """Chunks of the deep ranking; None where there is to be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A configuration by its name, ready to be asked about one corpus."""

    name: str
    retriever: Retriever
    ids: Mapping[str, str]
    """The dataset's id of a document by its path in the collection."""


def run_queries(
    trial: Trial,
    dataset: Dataset,
    clock: Clock,
    needs: Needs,
    *,
    progress: Progress = lambda _what, _done, _total: None,
) -> Run:
    """Ask every question of the dataset, as often as is needed."""
    answers = {}
    for done, query in enumerate(dataset.queries, start=1):
        answers[query.id] = _ask(query.text, trial, clock, needs)
        progress(f"{dataset.name}: {trial.name}", done, len(dataset.queries))
    return Run(configuration=trial.name, dataset=dataset, answers=answers)


def _ask(question: str, trial: Trial, clock: Clock, needs: Needs) -> Answer:
    started = clock.monotonic()
    timed = trial.retriever(question, limit=CONTEXT_SIZES[0])
    milliseconds = (clock.monotonic() - started) * 1000
    contexts = {CONTEXT_SIZES[0]: timed} | {
        size: trial.retriever(question, limit=size) for size in needs.contexts
    }
    deep = timed if needs.depth is None else trial.retriever(question, limit=needs.depth)
    return Answer(
        ranking=rank_documents(deep.chunks, trial.ids),
        contexts={size: _contents(found, trial.ids) for size, found in contexts.items()},
        retrieved=timed,
        milliseconds=milliseconds,
    )


def _contents(retrieved: Retrieved, ids: Mapping[str, str]) -> Contents:
    ranking = tuple(document.id for document in rank_documents(retrieved.chunks, ids))
    context = {ids.get(path, path) for path in retrieved.documents}
    return Contents(ranking=ranking, added=tuple(sorted(context.difference(ranking))))


def rank_documents(
    chunks: Sequence[RankedChunk], ids: Mapping[str, str]
) -> tuple[RankedDocument, ...]:
    """Return the documents in the order of their best chunks.

    A document that the dataset does not know keeps its path: it takes its place, unjudged.
    """
    ranked: dict[str, RankedDocument] = {}
    for chunk in chunks:
        document_id = ids.get(chunk.document_path, chunk.document_path)
        if document_id not in ranked:
            ranked[document_id] = RankedDocument(id=document_id, score=chunk.score)
    return tuple(ranked.values())
