"""Drafts plans from the table of contents and the wiki's links, purely.

Documents that stand in one folder and whose pages link to each other are what a question about
the folder's subject may need together. That is a guess: the drafts require nothing, and say what
a person has to decide.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import yaml

from llmwiki.domain import TopicId
from llmwiki.retrieval.evidence.plan_lint import LARGEST_SHARE
from llmwiki.store.plan_sources import ListedDocument
from llmwiki.text.slugs import slugify
from llmwiki.text.words import find_words

MOST_FAMILIES = 5
FEWEST_FAMILIES = 2
"""Of one plan."""

_LONGEST_NAME = 70
_LONGEST_QUERY = 500
"""Characters; a plan takes a little more."""

_INTRODUCTION = """\
# Drafts from the table of contents. Keep those whose questions need evidence from several of
# their families, say in `when` how these questions are put, in `rescue` what the evidence of a
# family tells, and set `required: true` where an answer is incomplete without it.
"""

Links = AbstractSet[tuple[TopicId, TopicId]]


def suggest_plans(documents: Sequence[ListedDocument], links: Links) -> str:
    """Return plans as YAML, one document each; empty where no documents belong together."""
    total = sum(document.passages for document in documents)
    usable = [
        document
        for document in documents
        if document.passages <= LARGEST_SHARE * total and find_words(_name(document))
    ]
    known: Counter[str] = Counter()
    plans = [
        _plan(folder, members, known)
        for folder, of_folder in groupby(usable, key=lambda document: document.folder)
        for members in _together(list(of_folder), links)
    ]
    if not plans:
        return ""
    drafts = yaml.safe_dump_all(
        plans, sort_keys=False, allow_unicode=True, explicit_start=True, width=100
    )
    return f"{_INTRODUCTION}{drafts}"


def _together(documents: Sequence[ListedDocument], links: Links) -> Iterator[list[ListedDocument]]:
    """Yield runs of documents, each linked with one before it in its run, of different names."""
    run: list[ListedDocument] = []
    for document in documents:
        is_linked = any(_are_linked(document, other, links) for other in run)
        if run and (len(run) == MOST_FAMILIES or not is_linked):
            if len(run) >= FEWEST_FAMILIES:
                yield run
            run = []
        if _name(document).casefold() not in {_name(other).casefold() for other in run}:
            run.append(document)
    if len(run) >= FEWEST_FAMILIES:
        yield run


def _are_linked(one: ListedDocument, other: ListedDocument, links: Links) -> bool:
    """Tell whether a page of the one links to a page of the other, or is the same."""
    return not one.topics.isdisjoint(other.topics) or any(
        (a, b) in links or (b, a) in links for a in one.topics for b in other.topics
    )


def _plan(folder: str, documents: Sequence[ListedDocument], known: Counter[str]) -> dict[str, Any]:
    base = slugify(folder)[-_LONGEST_NAME:].strip("-/") or "contents"
    known[base] += 1
    subject = PurePosixPath(folder).name.replace("-", " ").replace("_", " ")
    titles = [document.title for document in documents]
    return {
        "name": base if known[base] == 1 else f"{base}-{known[base]}",
        "when": [[subject], titles] if find_words(subject) else [titles],
        "families": [
            {
                "name": _name(document),
                "match": {"source": document.path},
                "rescue": " ".join(f"{subject} {document.title}".split())[:_LONGEST_QUERY],
                "required": False,
            }
            for document in documents
        ],
    }


def _name(document: ListedDocument) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in document.title)
    return " ".join(printable.split())[:_LONGEST_NAME].strip()
