"""Drafts plans from the table of contents and the wiki's links, purely.

Topics that stand in one folder and whose pages link to each other are what a question about the
folder's subject may need together. That is a guess: the drafts require nothing, and name what a
person has to decide.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import yaml

from llmwiki.domain import TopicId
from llmwiki.retrieval.evidence.plan_lint import LARGEST_SHARE
from llmwiki.store.plan_sources import TopicPlace
from llmwiki.text.slugs import slugify
from llmwiki.text.words import find_words

MOST_FAMILIES = 5
FEWEST_FAMILIES = 2
"""Of one plan."""

MOST_HEADINGS = 50

_LONGEST_NAME = 80
_LONGEST_QUERY = 500
"""Characters that a plan takes."""

_INTRODUCTION = """\
# Drafts from the table of contents. Keep those whose questions need evidence from several of
# their families, say in `when` how these questions are put, in `rescue` what the evidence of a
# family tells, and set `required: true` where an answer is incomplete without it.
"""


def suggest_plans(topics: Sequence[TopicPlace], links: AbstractSet[tuple[TopicId, TopicId]]) -> str:
    """Return plans as YAML, one document each; empty where no topics belong together."""
    total = sum(topic.passages for topic in topics)
    usable = [
        topic
        for topic in topics
        if topic.passages <= LARGEST_SHARE * total and find_words(topic.title)
    ]
    plans = [
        _plan(folder, number, members)
        for folder, of_folder in groupby(usable, key=lambda topic: topic.folder)
        for number, members in enumerate(_together(list(of_folder), links), start=1)
    ]
    if not plans:
        return ""
    documents = yaml.safe_dump_all(
        plans, sort_keys=False, allow_unicode=True, explicit_start=True, width=100
    )
    return f"{_INTRODUCTION}{documents}"


def _together(
    topics: Sequence[TopicPlace], links: AbstractSet[tuple[TopicId, TopicId]]
) -> Iterator[list[TopicPlace]]:
    """Yield runs of topics, each linked with one before it in its run, of different names."""
    run: list[TopicPlace] = []
    for topic in topics:
        is_linked = any(
            (other.id, topic.id) in links or (topic.id, other.id) in links for other in run
        )
        if run and (len(run) == MOST_FAMILIES or not is_linked):
            if len(run) >= FEWEST_FAMILIES:
                yield run
            run = []
        if _name(topic) not in {_name(other) for other in run}:
            run.append(topic)
    if len(run) >= FEWEST_FAMILIES:
        yield run


def _plan(folder: str, number: int, topics: Sequence[TopicPlace]) -> dict[str, Any]:
    base = slugify(folder) or "contents"
    subject = PurePosixPath(folder).name.replace("-", " ").replace("_", " ")
    titles = [topic.title for topic in topics]
    return {
        "name": (base if number == 1 else f"{base}-{number}")[-_LONGEST_NAME:],
        "when": [[subject], titles] if find_words(subject) else [titles],
        "families": [_family(topic, subject) for topic in topics],
    }


def _family(topic: TopicPlace, subject: str) -> dict[str, Any]:
    match: dict[str, Any] = {"source": list(topic.documents)}
    headings = [heading for heading in topic.headings if find_words(heading)]
    if headings:
        match["heading"] = headings[:MOST_HEADINGS]
    return {
        "name": _name(topic),
        "match": match,
        "rescue": " ".join(f"{subject} {topic.title}".split())[:_LONGEST_QUERY],
        "required": False,
    }


def _name(topic: TopicPlace) -> str:
    return " ".join(topic.title.split())[:_LONGEST_NAME].strip()
