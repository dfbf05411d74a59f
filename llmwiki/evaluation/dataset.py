"""Judged questions over a corpus: what an evaluation is about. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusDocument:
    """A document of the dataset; its text is Markdown, as plain text mostly is."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question that has judgments."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What one document is worth to one question."""

    document_id: str
    score: int
    """Above zero: relevant."""
    family: str | None
    """The evidence family that the document is a witness of; None requires nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A corpus with judged questions."""

    name: str
    documents: tuple[CorpusDocument, ...]
    """Empty where the corpus is a collection that exists already."""
    queries: tuple[Query, ...]
    """Those with a relevant document, in the order of their file."""
    judgments: Mapping[str, tuple[Judgment, ...]]
    """By the question's id."""
    left_out: int
    """Questions without a relevant document, of which no measure is defined."""
    ordinary: bool = False
    """No question requires a set of families, so families that fire are false."""

    def required_families(self, query_id: str) -> frozenset[str]:
        """Return the families that a complete answer has a witness of."""
        return frozenset(
            judgment.family
            for judgment in self.judgments[query_id]
            if judgment.family is not None and judgment.score > 0
        )

    def relevant_documents(self) -> frozenset[str]:
        """Return the documents that are relevant to some question."""
        return frozenset(
            judgment.document_id
            for judgments in self.judgments.values()
            for judgment in judgments
            if judgment.score > 0
        )
