"""Asks whether a second gate of the step-back would help: questions too specific and ill served.

    llmwiki evaluate DATASET…                        # so that the collections are there
    python -m benchmarks.step_back_gate DATASET…     # with the same LLMWIKI_DATABASE_URL

The gate would open for a question whose best chunk is hardly evidence (its closeness and overlap
are below what a corpus needs of evidence, or above it by less than a tenth) and that is specific:
it names an identifier or a number, or holds words that no chunk has. What a model would make of
such a question is not known without one, so that the best is assumed: the title of the document
that answers it. Its embedding goes to the embedder alone, as a general question's does. Prints for
each data set how often the gate would open and nDCG@10 with and without, as a Markdown table.
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.judged import DEPTH, ndcg, relevant_documents
from llmwiki.bootstrap import App, build
from llmwiki.config import Settings, load_settings
from llmwiki.domain import Collection
from llmwiki.evaluation.corpus import OWNER, document_path
from llmwiki.evaluation.dataset import Dataset
from llmwiki.evaluation.reading import read_dataset
from llmwiki.retrieval.embedding import embed_question
from llmwiki.retrieval.events import Trace
from llmwiki.retrieval.evidence_check import EvidenceDetail, has_evidence
from llmwiki.retrieval.gathering import Asked, Ranked, rank
from llmwiki.retrieval.question import check_question
from llmwiki.store.collections import select_collections
from llmwiki.text.identifiers import find_identifiers

WEAK = 1.1
"""What is below so many times the needed figure is weak."""

CHUNKS = 50
"""Of a ranking, so that ten documents are among them."""

_NUMBER = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One question with the gate and without."""

    is_weak: bool
    is_specific: bool
    as_asked: float
    generalised: float

    @property
    def gated(self) -> float:
        """nDCG@10 where the gate decides."""
        return self.generalised if self.is_weak and self.is_specific else self.as_asked


def main() -> None:
    """Print a row for each data set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("datasets", nargs="+", type=Path)
    print("| data set | questions | weak | specific | both | nDCG@10 of both, as asked |", end="")
    print(" with the title embedded | nDCG@10 of all, as asked | with the gate |")
    print("|---|---|---|---|---|---|---|---|---|")
    with build(_settings()) as app:
        for folder in parser.parse_args().datasets:
            dataset = read_dataset(folder)
            print(_row(dataset, list(_outcomes(app, dataset))), flush=True)


def _settings() -> Settings:
    settings = load_settings()
    retrieval = settings.retrieval.model_copy(update={"limit": CHUNKS})
    return settings.model_copy(update={"retrieval": retrieval})


def _row(dataset: Dataset, outcomes: list[Outcome]) -> str:
    opened = [each for each in outcomes if each.is_weak and each.is_specific]
    figures = (
        len(outcomes),
        sum(each.is_weak for each in outcomes),
        sum(each.is_specific for each in outcomes),
        len(opened),
        _mean([each.as_asked for each in opened]),
        _mean([each.generalised for each in opened]),
        _mean([each.as_asked for each in outcomes]),
        _mean([each.gated for each in outcomes]),
    )
    return f"| {dataset.name} | " + " | ".join(map(str, figures)) + " |"


def _mean(values: list[float]) -> str:
    return f"{fmean(values):.4f}" if values else "none"


def _outcomes(app: App, dataset: Dataset) -> Iterator[Outcome]:
    relevant = relevant_documents(dataset)
    titles = {document.id: document.title for document in dataset.documents}
    with app.engine.connect() as connection:
        collections = select_collections(connection, name=dataset.name, owners=[OWNER])
    for query in dataset.queries:
        answers = sorted(relevant.get(query.id, ()))
        if not answers:
            continue
        question = check_question(query.text)
        paths = frozenset(document_path(answer) for answer in answers)
        asked = _ranked(app, collections, question, question)
        general = next((titles[answer] for answer in answers if titles.get(answer)), None)
        generalised = _ranked(app, collections, question, general or question)
        yield Outcome(
            is_weak=_is_weak(app, collections, asked),
            is_specific=bool(
                find_identifiers(question) or _NUMBER.search(question) or asked.pool.words.unknown
            ),
            as_asked=_gain(asked, paths),
            generalised=_gain(generalised, paths),
        )


def _ranked(
    app: App, collections: tuple[Collection, ...], question: str, embed_query: str
) -> Ranked:
    trace = Trace(app.clock)
    parts = app.retrieval
    vector = embed_question(embed_query, collections, parts.embedder, trace)
    return rank(
        Asked(
            question=question,
            collections=collections,
            embed_query=embed_query,
            vector=vector,
            trace=trace,
        ),
        parts,
    )


def _is_weak(app: App, collections: tuple[Collection, ...], ranked: Ranked) -> bool:
    trace = Trace(app.clock)
    with app.engine.connect() as connection:
        has_evidence(connection, ranked.order, ranked.pool, collections, trace)
    detail = trace.events[-1].detail
    return isinstance(detail, EvidenceDetail) and detail.best < WEAK * detail.needed


def _gain(ranked: Ranked, relevant: frozenset[str]) -> float:
    documents = dict.fromkeys(each.chunk.document_path for each in ranked.order)
    return ndcg(list(documents)[:DEPTH], relevant)


if __name__ == "__main__":
    main()
