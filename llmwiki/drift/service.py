"""The drift sweep, and the two checks that a reader of single chunks needs."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Engine

from llmwiki.domain import ChunkId, Collection, GeneratorKind, PageId, Record
from llmwiki.store import drift
from llmwiki.store.drift import Verdict


def sweep_collections(
    engine: Engine,
    collections: Sequence[Collection],
    recipe: str,
    generator_kind: GeneratorKind,
    *,
    write: bool = True,
) -> list[Verdict]:
    """Recompute the stale flag of every page of the collections; return the changes."""
    with engine.connect() as connection:
        verdicts = drift.sweep(connection, collections, recipe, generator_kind, write=write)
        if write:
            connection.commit()
    return verdicts


def sweep_record(verdicts: Sequence[Verdict]) -> Record:
    """Return the ``drift-sweep`` record: pages marked, pages cleared, and how often each reason."""
    marked = [verdict for verdict in verdicts if verdict.reasons]
    reasons = Counter(reason for verdict in marked for reason in verdict.reasons)
    return Record(
        kind="drift-sweep",
        payload={
            "pages_marked_stale": len(marked),
            "pages_cleared": len(verdicts) - len(marked),
            "reasons": dict(sorted(reasons.items())),
        },
    )


def mark_pages_stale_for_chunks(engine: Engine, chunk_ids: Sequence[ChunkId]) -> list[PageId]:
    """Flag the pages that cite any of the chunks, at once and without waiting for the sweep.

    The next sweep recomputes the flag, so a mark without a real change does not last.
    """
    with engine.connect() as connection:
        marked = drift.mark_pages_stale(connection, chunk_ids)
        connection.commit()
    return marked


def verify_citations(
    engine: Engine, page_id: PageId, chunk_ids: Sequence[ChunkId]
) -> list[ChunkId]:
    """Return which of the chunks that a reader drilled down to drifted since the compile.

    A chunk that is gone counts as drifted, one that the page never used does not.
    """
    with engine.connect() as connection:
        return drift.drifted_chunks(connection, page_id, chunk_ids)
