"""Follows titles: what the question names, and what the best chunk names, stands higher. Pure.

Documentation refers to its own documents by title, and the second half of an answer often stands
in the document that the first half names. Such a candidate gets a bonus in units of the fused
score, which is a mean of standard scores. Measured on question sets that need two documents
(HotpotQA and the Claude documentation; docs/evaluation.md), where it is worth most; sets whose
texts never name a title are left as they were.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from llmwiki.config import RetrievalSettings
from llmwiki.domain import DocumentId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.events import Detail, Trace

SHORTEST_TITLE = 3
"""Characters. A shorter one stands in half of all texts."""

LONGEST_TITLE = 300
"""Characters. A longer one is a text by itself, which nothing repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TitlesDetail(Detail):
    """The titles that were followed."""

    kind: Literal["titles"] = "titles"
    in_question: tuple[str, ...]
    in_best_chunk: tuple[str, ...]


def follow_titles(
    question: str, candidates: Sequence[Candidate], settings: RetrievalSettings, trace: Trace
) -> tuple[Candidate, ...]:
    """Return the candidates, those higher whose document is named.

    Only under a fusion whose scores are standard scores: the bonus has no meaning on another
    scale. The best chunk is the best after the titles of the question were followed.
    """
    with trace.step("titles") as step:
        weights = settings.titles
        if settings.fusion != "completed-zscore" or not (
            weights.in_question or weights.in_best_chunk
        ):
            step.skip("off", "titles are followed under completed z-scores, where they have weight")
            return tuple(candidates)
        asked = named_in_question(question, candidates)
        ranked = raise_documents(candidates, asked, weights.in_question)
        linked = named_in_best(ranked)
        ranked = raise_documents(ranked, linked, weights.in_best_chunk)
        if not asked and not linked:
            step.skip("none-named", "neither the question nor the best chunk names a document")
        else:
            step.done(
                TitlesDetail(
                    in_question=tuple(dict.fromkeys(asked.values())),
                    in_best_chunk=tuple(dict.fromkeys(linked.values())),
                )
            )
        return ranked


def named_in_question(question: str, candidates: Sequence[Candidate]) -> Mapping[DocumentId, str]:
    """Return the documents whose title the question names, whatever the case."""
    asked = question.casefold()
    return {
        document: title
        for document, title in _titles(candidates).items()
        if _names(asked, title.casefold())
    }


def named_in_best(ranked: Sequence[Candidate]) -> Mapping[DocumentId, str]:
    """Return the other documents whose title stands in the best chunk as it is written."""
    if not ranked:
        return {}
    best = ranked[0].chunk
    return {
        document: title
        for document, title in _titles(ranked).items()
        if document != best.document_id and _names(best.text, title)
    }


def raise_documents(
    candidates: Sequence[Candidate], documents: Mapping[DocumentId, str], bonus: float
) -> tuple[Candidate, ...]:
    """Return the candidates in their new order; equal scores keep the one that they had."""
    raised = (
        replace(
            candidate,
            score=candidate.score + bonus,
            fused_score=candidate.fused_score + bonus,
        )
        if candidate.chunk.document_id in documents
        else candidate
        for candidate in candidates
    )
    return tuple(sorted(raised, key=lambda candidate: -candidate.score))


def _titles(candidates: Sequence[Candidate]) -> dict[DocumentId, str]:
    """Return the title of each document, without what stands in brackets at its end."""
    titles = {
        candidate.chunk.document_id: without_brackets(candidate.chunk.document_title)
        for candidate in candidates
        if len(candidate.chunk.document_title) <= LONGEST_TITLE
    }
    return {document: title for document, title in titles.items() if len(title) >= SHORTEST_TITLE}


def without_brackets(title: str) -> str:
    """Return the title without what stands in brackets at its end, as in `Mercury (planet)`."""
    bare = title.strip()
    if not bare.endswith((")", "]")):
        return bare
    inside_from = max(bare.rfind(")", 0, -1), bare.rfind("]", 0, -1)) + 1
    opened = [place for mark in "([" if (place := bare.find(mark, inside_from)) >= 0]
    return bare[: min(opened)].rstrip() if opened else bare


def _names(text: str, title: str) -> bool:
    """Tell whether the title stands in the text as whole words."""
    start = text.find(title)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(title) :][:1]
        if not _in_word(before) and not _in_word(after):
            return True
        start = text.find(title, start + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
