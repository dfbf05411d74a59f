"""The anchor of a broad question: the overview of the collection, which costs no call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from llmwiki.domain import Collection
from llmwiki.retrieval.events import Detail, Trace
from llmwiki.retrieval.question import Route
from llmwiki.store.pages import find_overview
from llmwiki.text.tokens import count_tokens

CONTENTS_TOKENS = 500
"""Of a table of contents in a context; the whole is `llmwiki page overview`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorDetail(Detail):
    """The overviews that were added, by collection."""

    kind: Literal["anchor"] = "anchor"
    collections: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What a collection is about: its summary and the head of its table of contents."""

    collection: str
    title: str
    summary: str
    contents: str
    tokens: int


def find_anchors(
    connection: Connection, collections: Sequence[Collection], route: Route, trace: Trace
) -> tuple[Anchor, ...]:
    """Return the overviews of the collections for a broad question, and none for another."""
    with trace.step("anchor") as step:
        if route != "broad":
            step.skip("narrow", "the question is not a broad one")
            return ()
        anchors = tuple(
            anchor for of in collections if (anchor := _anchor(connection, of)) is not None
        )
        if anchors:
            tokens = sum(anchor.tokens for anchor in anchors)
            named = tuple(anchor.collection for anchor in anchors)
            step.done(AnchorDetail(collections=named, tokens=tokens))
        else:
            step.skip("empty", "the collection has no overview yet")
        return anchors


def _anchor(connection: Connection, collection: Collection) -> Anchor | None:
    page = find_overview(connection, collection)
    if page is None:
        return None
    contents = head_of(page.body, CONTENTS_TOKENS)
    return Anchor(
        collection=collection.name,
        title=page.title,
        summary=page.tldr,
        contents=contents,
        tokens=count_tokens(page.tldr) + count_tokens(contents),
    )


def head_of(text: str, tokens: int) -> str:
    """Return the first whole lines of a text that fit."""
    kept: list[str] = []
    for line in text.splitlines():
        tokens -= count_tokens(line)
        if tokens < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept)
