"""What an answer is."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from llmwiki.domain import Statement, Usage
from llmwiki.grounding.gate import DroppedStatement
from llmwiki.retrieval.context import Context
from llmwiki.retrieval.events import Detail, Event

AnswerMethod = Literal["model", "chunks", "not-in-corpus"]

NoModelReason = Literal[
    "no-model", "switched-off", "quota", "failed", "not-answered", "unsupported", "no-evidence"
]
"""Why an answer is not in a model's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDetail(Detail):
    """How the answer was made."""

    kind: Literal["answer"] = "answer"
    method: AnswerMethod
    statements: int
    dropped: int
    """Statements of the model that the chunks do not bear out."""
    from_cache: bool = False
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that says what it is."""

    context: Context
    method: AnswerMethod
    statements: tuple[Statement, ...] = ()
    """The model's, each with the chunks that it cites; empty for the other methods."""
    dropped: tuple[DroppedStatement, ...] = ()
    reason: NoModelReason | None = None
    message: str | None = None
    """The reason in a sentence."""
    resets_at: datetime | None = None
    """When the quota returns, where that is why no model was used."""
    events: tuple[Event, ...] = ()

    @property
    def usage(self) -> Usage:
        """What retrieval and answer spent."""
        return sum((event.usage for event in self.events), start=Usage())

    def blocks_of(self, statement: Statement) -> tuple[int, ...]:
        """Return the numbers of the blocks that a statement cites."""
        cited = set(statement.chunk_ids)
        return tuple(
            block.number for block in self.context.blocks if cited.intersection(block.chunk_ids)
        )
