"""Drafts plans from the table of contents and the wiki's links, purely.

Documents that stand in one folder and whose pages link to each other are what a question about
the folder's subject may need together. That is a guess: the drafts require nothing, and say what
a person has to decide.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, groupby
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

Draft = Mapping[str, Any]
"""A plan as its YAML has it."""


def suggest_plans(documents: Sequence[ListedDocument], links: Links) -> tuple[Draft, ...]:
    """Return drafts of plans, those first whose documents are linked the most.

    That many pages of one folder link to each other is the best sign that a question about it
    needs them together; next come those that hold more chunks.
    """
    total = sum(document.chunks for document in documents)
    usable = [
        document
        for document in documents
        if document.chunks <= LARGEST_SHARE * total and find_words(_name(document))
    ]
    known: Counter[str] = Counter()
    # Named in the order of the contents, so that a name says where in it a draft comes from.
    drafts = [
        (_usefulness(members, links), _plan(folder, members, known))
        for folder, of_folder in groupby(usable, key=lambda document: document.folder)
        for members in _together(list(of_folder), links)
    ]
    return tuple(plan for _, plan in sorted(drafts, key=lambda draft: draft[0], reverse=True))


def drafts_as_yaml(drafts: Sequence[Draft]) -> str:
    """Return the drafts as YAML, one document each, below what to do with them."""
    plans = yaml.safe_dump_all(
        drafts, sort_keys=False, allow_unicode=True, explicit_start=True, width=100
    )
    return f"{_INTRODUCTION}{plans}"


def _usefulness(documents: Sequence[ListedDocument], links: Links) -> tuple[int, int]:
    linked = sum(_have_links(one, other, links) for one, other in combinations(documents, 2))
    return linked, sum(document.chunks for document in documents)


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
    return not one.topics.isdisjoint(other.topics) or _have_links(one, other, links)


def _have_links(one: ListedDocument, other: ListedDocument, links: Links) -> bool:
    return any((a, b) in links or (b, a) in links for a in one.topics for b in other.topics)


def _plan(folder: str, documents: Sequence[ListedDocument], known: Counter[str]) -> Draft:
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
