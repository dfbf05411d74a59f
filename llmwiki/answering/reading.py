"""Reads a model's answer into statements, tolerant of what surrounds the JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmwiki.domain import ChunkId, Statement
from llmwiki.errors import InvalidAnswerError
from llmwiki.grounding.answer_text import (
    clean_text,
    labels_in,
    statement_kind,
    with_fence,
    without_markers,
)
from llmwiki.text.json_objects import objects_in

_MOST_STATEMENTS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """What the model said; no statements when it found no answer in the chunks."""

    answered: bool
    statements: tuple[Statement, ...]


def read_answer(text: str, labels: Mapping[str, tuple[ChunkId, ...]]) -> ReadAnswer:
    """Read the answer to ``build_messages``; ``labels`` tells which chunks a label stands for.

    What cites no known label keeps an empty citation, for the gate to drop. Raises
    InvalidAnswerError for a text that holds no answer in the form that was asked for.
    """
    for value in objects_in(text):
        statements = value.get("statements")
        if isinstance(statements, list):
            read = tuple(_statement(each, labels) for each in statements[:_MOST_STATEMENTS])
            return ReadAnswer(answered=value.get("answered") is not False, statements=read)
    raise InvalidAnswerError("the model's answer is not the JSON that was asked for")


def _statement(value: object, labels: Mapping[str, tuple[ChunkId, ...]]) -> Statement:
    if not isinstance(value, dict):
        return Statement(text="", chunk_ids=())
    text = clean_text(value.get("text"))
    kind = statement_kind(value.get("kind"), text)
    cited = list(labels_in(value.get("sources")))
    if kind == "prose":
        text, marked = without_markers(text, labels)
        cited += marked
    if kind == "code":
        text = with_fence(text)
    chunk_ids = dict.fromkeys(
        chunk_id for label in cited if label in labels for chunk_id in labels[label]
    )
    return Statement(text=text, chunk_ids=tuple(chunk_ids), kind=kind)
