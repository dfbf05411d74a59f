"""Reads a model's answer into drafts: tolerant of what surrounds it, strict about what it says.

Nothing here judges the content: that is the gate's task. What cannot be read as a statement
goes on as an empty one, so that the gate drops it and counts it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmwiki.compiler.labels import LabelledPack, label_pack
from llmwiki.domain import ChunkId, PageDraft, PageSection, Statement, TopicId, TopicSources
from llmwiki.grounding.answer_scan import ScannedAnswer, scan_answer
from llmwiki.grounding.answer_text import (
    clean_text,
    labels_in,
    statement_kind,
    topic_label,
    with_fence,
    without_markers,
)

PROBLEMS: Mapping[str, str] = {
    "no-pages": "the answer holds no list of pages",
    "truncated": "the answer ended before this page was whole",
    "unreadable": "this page is not valid JSON",
    "malformed": "this page does not have the form that was asked for",
    "answered-twice": "the answer has two different pages for this topic",
    "swapped": "this page cites nothing but the chunks of other topics",
    "not-answered": "the answer has no page for this topic",
}
"""Why a topic has no draft, by code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """What could be read of an answer: a draft or a problem for every topic of the pack."""

    drafts: Mapping[TopicId, PageDraft]
    problems: Mapping[TopicId, str]
    """A code of PROBLEMS, a colon, and the sentence."""
    truncated: bool


class _Unreadable(Exception):  # noqa: N818 - a signal inside of this file, not an error
    """A page has no draft; the message is a code of PROBLEMS."""


def read_answer(text: str, pack: Sequence[TopicSources]) -> ParsedAnswer:
    """Read the answer to ``build_messages(pack)``. Never raises, whatever the text is."""
    labelled = label_pack(pack)
    scanned = scan_answer(text)
    if scanned is None:
        return _parsed(labelled, {}, dict.fromkeys(labelled.topics, "no-pages"), truncated=False)
    drafts: dict[str, PageDraft] = {}
    problems: dict[str, str] = {}
    for topic, pages in _pages_by_topic(scanned, labelled).items():
        try:
            drafts[topic] = _one_draft([_draft(page, topic, labelled) for page in pages])
        except _Unreadable as problem:
            problems[topic] = str(problem)
    for topic in filter(labelled.topics.__contains__, map(topic_label, scanned.broken)):
        drafts.pop(topic, None)
        problems[topic] = "unreadable"
    missing = "truncated" if scanned.cut_off else "not-answered"
    for topic in labelled.topics:
        if topic not in drafts:
            problems.setdefault(topic, missing)
    return _parsed(labelled, drafts, problems, truncated=scanned.cut_off)


def _parsed(
    labelled: LabelledPack,
    drafts: Mapping[str, PageDraft],
    problems: Mapping[str, str],
    *,
    truncated: bool,
) -> ParsedAnswer:
    ids = {label: sources.topic.id for label, sources in labelled.topics.items()}
    return ParsedAnswer(
        drafts={ids[topic]: draft for topic, draft in drafts.items()},
        problems={ids[topic]: f"{code}: {PROBLEMS[code]}" for topic, code in problems.items()},
        truncated=truncated,
    )


def _pages_by_topic(
    scanned: ScannedAnswer, labelled: LabelledPack
) -> Mapping[str, list[dict[str, Any]]]:
    """Return the pages of known topics; a page of no topic that was asked for is ignored."""
    pages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for page in scanned.pages:
        topic = topic_label(page.get("topic")) if isinstance(page, dict) else ""
        if topic in labelled.topics:
            pages[topic].append(page)
    return pages


def _one_draft(drafts: Sequence[PageDraft]) -> PageDraft:
    if any(draft != drafts[0] for draft in drafts):
        raise _Unreadable("answered-twice")
    return drafts[0]


def _draft(page: Mapping[str, Any], topic: str, labelled: LabelledPack) -> PageDraft:
    sections = page.get("sections")
    if not isinstance(sections, list):
        raise _Unreadable("malformed")
    _refuse_swapped(page, topic, labelled)
    reader = _PageReader({chunk.label: chunk.chunk.id for chunk in labelled.chunks_of(topic)})
    tags = page.get("tags")
    return PageDraft(
        title=clean_text(page.get("title")),
        tldr=reader.statement(page.get("tldr")),
        tags=tuple(filter(None, map(clean_text, tags if isinstance(tags, list) else ()))),
        sections=tuple(map(reader.section, sections)),
    )


def _refuse_swapped(page: Mapping[str, Any], topic: str, labelled: LabelledPack) -> None:
    """Refuse a page all of whose citations belong to other topics: it is another one's page."""
    cited = {
        labelled.chunks[label].topic for label in _cited_labels(page) if label in labelled.chunks
    }
    if cited and topic not in cited:
        raise _Unreadable("swapped")


def _cited_labels(page: Mapping[str, Any]) -> Iterator[str]:
    sections = page.get("sections")
    for section in sections if isinstance(sections, list) else ():
        statements = section.get("statements") if isinstance(section, dict) else None
        for statement in statements if isinstance(statements, list) else ():
            if isinstance(statement, dict):
                yield from labels_in(statement.get("sources"))


@dataclass(frozen=True, slots=True)
class _PageReader:
    """Reads the parts of a page that may cite these chunks of its topic."""

    own: Mapping[str, ChunkId]

    def section(self, value: object) -> PageSection:
        if not isinstance(value, dict) or not isinstance(value.get("statements"), list):
            raise _Unreadable("malformed")
        return PageSection(
            heading=clean_text(value.get("heading")),
            statements=tuple(map(self.statement, value["statements"])),
        )

    def statement(self, value: object) -> Statement:
        """Return the statement; one that has not the form of a statement becomes empty."""
        if not isinstance(value, dict):
            return Statement(text="", chunk_ids=())
        text = clean_text(value.get("text"))
        kind = statement_kind(value.get("kind"), text)
        labels = list(labels_in(value.get("sources")))
        if kind == "prose":
            text, marked = without_markers(text, self.own)
            labels += marked
        if kind == "code":
            text = with_fence(text)
        chunk_ids = dict.fromkeys(self.own[label] for label in labels if label in self.own)
        return Statement(text=text, chunk_ids=tuple(chunk_ids), kind=kind)
