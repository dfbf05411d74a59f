"""Drafts that the gate refused, kept for a person: the last few of each page."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from llmwiki.domain import CollectionId, PageDraft, PageId, RunId
from llmwiki.store import page_content
from llmwiki.store.wiki_tables import RefusedDraftTable

REFUSALS_KEPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A statement that the gate would have taken out, the code of the reason, and what offends."""

    text: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What was refused, why, and who wrote it."""

    generator: str
    refusal: str
    dropped: tuple[Dropped, ...]
    draft: PageDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRefusal:
    """A refusal with its time and run."""

    refusal: Refusal
    run_id: RunId | None
    created_at: datetime


def add_refusal(
    connection: Connection,
    collection_id: CollectionId,
    page_id: PageId,
    run_id: RunId,
    refusal: Refusal,
) -> None:
    """Keep the refused draft; the oldest beyond REFUSALS_KEPT goes."""
    connection.execute(
        insert(RefusedDraftTable).values(
            page_id=page_id,
            collection_id=collection_id,
            run_id=run_id,
            generator=refusal.generator,
            refusal=refusal.refusal,
            dropped=[asdict(dropped) for dropped in refusal.dropped],
            content=page_content.to_json(refusal.draft),
        )
    )
    kept = (
        select(RefusedDraftTable.id)
        .where(RefusedDraftTable.page_id == page_id)
        .order_by(RefusedDraftTable.id.desc())
        .limit(REFUSALS_KEPT)
    )
    connection.execute(
        delete(RefusedDraftTable).where(
            RefusedDraftTable.page_id == page_id, RefusedDraftTable.id.not_in(kept)
        )
    )


def refusals_of(connection: Connection, page_id: PageId) -> Sequence[StoredRefusal]:
    """Return the refused drafts of the page that are kept, the newest first."""
    rows = connection.execute(
        select(RefusedDraftTable)
        .where(RefusedDraftTable.page_id == page_id)
        .order_by(RefusedDraftTable.id.desc())
    ).mappings()
    return [
        StoredRefusal(
            refusal=Refusal(
                generator=row["generator"],
                refusal=row["refusal"],
                dropped=tuple(Dropped(**dropped) for dropped in row["dropped"]),
                draft=page_content.from_json(row["content"]),
            ),
            run_id=None if row["run_id"] is None else RunId(row["run_id"]),
            created_at=row["created_at"],
        )
        for row in rows
    ]
