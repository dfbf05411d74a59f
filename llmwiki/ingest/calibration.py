"""Measures, after an ingest, what scores mean in the collection. No judged question is needed.

Costs the embedding of fifty questions and of one sentence for each of 200 chunks, once, and
again only when the corpus has grown or shrunk by a third, or is embedded anew.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import median, quantiles

import numpy as np
import structlog
from sqlalchemy import Connection, Engine

from llmwiki.domain import ChunkId, Collection
from llmwiki.errors import ProviderError
from llmwiki.ingest.foreign_questions import FOREIGN_QUESTIONS
from llmwiki.ports import Embedder, Vectors
from llmwiki.store.calibrations import (
    Calibration,
    SampledChunk,
    closeness,
    read_calibration,
    sample_chunks,
    write_calibration,
)
from llmwiki.store.vectors import read_vectors
from llmwiki.store.word_statistics import rarity, read_extents, sentence_terms
from llmwiki.text.weights import share

log = structlog.get_logger()

SAMPLE = 200
GROWTH = 1.33
"""A corpus that grew or shrank by less is measured as it was."""
PAIRS_PER_SENTENCE = 5
FEWEST_PAIRS = 100
"""With fewer random pairs their percentiles say nothing, and the usual ones are taken."""
USUAL_OVERLAPS = (0.15, 0.35)
"""The 90th and 99th percentile of HotpotQA and of the Claude documentation, about."""
SENTENCE_WORDS = 25
FEWEST_WORDS = 4


def calibrate(engine: Engine, embedder: Embedder, collection: Collection) -> bool:
    """Measure the figures of the collection where they are missing or outgrown.

    Returns whether they were measured. An embedder that fails leaves them as they are; the
    ingest that they belong to is whole without them.
    """
    with engine.connect() as connection:
        chunks = read_extents(connection, [collection])[collection.id].chunks
        known = read_calibration(connection, collection)
        if not chunks or (known is not None and _still_holds(known, chunks)):
            return False
        sample = sample_chunks(connection, collection, limit=SAMPLE)
        vectors = read_vectors(connection, collection, [each.id for each in sample])
        if not vectors:
            return False
        sentences = {each.id: first_sentence(each.text) for each in sample if each.id in vectors}
        overlaps = _random_overlaps(connection, collection, sample, sentences, chunks)
    try:
        foreign = embedder.embed(FOREIGN_QUESTIONS)
        own = embedder.embed(list(sentences.values()))
    except ProviderError as error:
        log.warning("ingest.calibration.failed", collection=collection.name, error=str(error))
        return False
    matrix = np.stack([vectors[chunk_id] for chunk_id in sentences])
    calibration = _figures(collection, chunks, matrix, own, foreign, overlaps)
    with engine.connect() as connection:
        write_calibration(connection, collection, calibration)
        connection.commit()
    log.info("ingest.calibrated", collection=collection.name, sample=len(sentences))
    return True


def first_sentence(text: str) -> str:
    """Return the first sentence of some length, cut to that of a question."""
    for line in text.replace(". ", ".\n").splitlines():
        words = line.split()
        if len(words) >= FEWEST_WORDS:
            return " ".join(words[:SENTENCE_WORDS])
    return " ".join(text.split()[:SENTENCE_WORDS])


def _still_holds(known: Calibration, chunks: int) -> bool:
    return known.chunks / GROWTH < chunks < known.chunks * GROWTH


def _figures(
    collection: Collection,
    chunks: int,
    matrix: Vectors,
    own: Vectors,
    foreign: Vectors,
    overlaps: Sequence[float],
) -> Calibration:
    common, rare = _percentiles(overlaps)
    return Calibration(
        embedder=collection.embedder.name,
        chunks=chunks,
        foreign_cosine=round(float((foreign @ matrix.T).mean()), 4),
        own_closeness=round(_own_closeness(matrix, own, foreign), 4),
        common_overlap=round(common, 4),
        rare_overlap=round(rare, 4),
    )


def _own_closeness(chunks: Vectors, sentences: Vectors, foreign: Vectors) -> float:
    zero = float((foreign @ chunks.T).mean())
    cosines = (chunks * sentences).sum(axis=1)
    return median(closeness(float(cosine), zero) for cosine in cosines)


def _random_overlaps(
    connection: Connection,
    collection: Collection,
    sample: Sequence[SampledChunk],
    sentences: Mapping[ChunkId, str],
    chunks: int,
) -> list[float]:
    """Return how much of each sentence's words chunks of other documents hold."""
    overlaps: list[float] = []
    asked = sentence_terms(connection, collection, list(sentences.values()))
    terms = dict(zip(sentences, asked, strict=True))
    for place, each in enumerate(sample):
        weights = {
            lexeme: rarity(chunks, frequency)
            for lexeme, frequency in terms.get(each.id, {}).items()
        }
        rest = (*sample[place + 1 :], *sample[:place])
        others = (other for other in rest if other.document_id != each.document_id)
        compared = islice(others, PAIRS_PER_SENTENCE if weights else 0)
        overlaps.extend(share(weights, other.lexemes) for other in compared)
    return overlaps


def _percentiles(overlaps: Sequence[float]) -> tuple[float, float]:
    if len(overlaps) < FEWEST_PAIRS:
        return USUAL_OVERLAPS
    cuts = quantiles(overlaps, n=100)
    return cuts[89], cuts[98]
