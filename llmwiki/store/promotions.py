"""The gate of the wiki: whether the pages of a collection may stand beside its chunks.

Promotion is the operator's consent; the gate is what lint proves. It closes by itself.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, text, update

from llmwiki.domain import Collection
from llmwiki.store.corpus_tables import CollectionTable

GateReason = Literal["open", "not-promoted", "not-linted", "lint-too-old", "lint-errors"]

# A dry run writes no record, so that every record is of a real pass.
_STATE = """
SELECT k.promoted_at, lint.created_at AS linted_at, lint.errors,
       clock_timestamp() - lint.created_at > CAST(:max_age AS interval) AS too_old
FROM collection k
LEFT JOIN LATERAL (
    SELECT r.created_at, CAST(r.payload ->> 'errors' AS integer) AS errors
    FROM record r
    WHERE r.kind = 'lint' AND r.collection_id = k.id
    ORDER BY r.id DESC LIMIT 1
) lint ON true
WHERE k.id = :collection
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiGate:
    """Whether the wiki of a collection is served, and why not."""

    reason: GateReason
    message: str
    promoted_at: datetime | None
    linted_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Tell whether pages are served."""
        return self.reason == "open"


def promote(connection: Connection, collection: Collection) -> None:
    """Let the wiki lead from now on, whenever its lint is recent and green."""
    _set(connection, collection, text("coalesce(promoted_at, clock_timestamp())"))


def demote(connection: Connection, collection: Collection) -> None:
    """Take the wiki off the path of questions."""
    _set(connection, collection, None)


def wiki_gate(connection: Connection, collection: Collection, *, max_age: timedelta) -> WikiGate:
    """Return how the gate stands: open while the last lint is that young and without error."""
    row = connection.execute(
        text(_STATE), {"collection": collection.id, "max_age": max_age}
    ).one_or_none()
    promoted_at, linted_at, errors, too_old = row or (None, None, None, None)
    reason, message = _judge(
        promoted=promoted_at is not None,
        linted=linted_at is not None,
        too_old=bool(too_old),
        errors=errors or 0,
    )
    return WikiGate(
        reason=reason,
        message=message.format(name=collection.name, errors=errors, linted=linted_at, age=max_age),
        promoted_at=promoted_at,
        linted_at=linted_at,
    )


def _judge(*, promoted: bool, linted: bool, too_old: bool, errors: int) -> tuple[GateReason, str]:
    if not promoted:
        return "not-promoted", "not promoted; run `llmwiki promote --collection {name}`"
    if not linted:
        return "not-linted", "no lint pass has seen it yet; schedule `llmwiki nightly`"
    if errors:
        return "lint-errors", "the last lint found {errors} errors; see `llmwiki lint`"
    when = "the last lint, of {linted:%Y-%m-%d %H:%M} UTC, "
    if too_old:
        return "lint-too-old", f"{when}is older than {{age}}; is `llmwiki nightly` scheduled?"
    return "open", f"{when}found no error"


def _set(connection: Connection, collection: Collection, value: object) -> None:
    connection.execute(
        update(CollectionTable).where(CollectionTable.id == collection.id).values(promoted_at=value)
    )
