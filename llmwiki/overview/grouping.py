"""Groups neighbours up to a size so that a change stays local: content-defined boundaries.

Whether a group begins at an element follows from the element alone (a hash of its name against
its size), not from what stands before it. So an insertion touches the group that it falls into,
and with luck no other; counting from the start would shift every later group. A group that grows
past the limit is closed all the same; the next boundary brings the groups back in step.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from llmwiki.domain import ChunkId
from llmwiki.text.hashing import unit_interval

BOUNDARIES_PER_LIMIT = 2.0
"""Expected boundaries in as many tokens as a group may hold; more make smaller groups, fewer
make groups that the limit has to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What is never divided: a small document, a section, or a chunk."""

    name: str
    """What the element is recognised by: the same through edits of its text, and wherever its
    folder or its document are moved to. It decides on a boundary alone, so need not be unique."""
    title: str
    tokens: int
    chunk_ids: tuple[ChunkId, ...]


def group(elements: Iterable[Element], limit: int) -> list[list[Element]]:
    """Return runs of elements of at most ``limit`` tokens; one larger element stands alone."""
    groups: list[list[Element]] = []
    size = 0
    for element in elements:
        if not groups or size + element.tokens > limit or _begins_group(element, limit):
            groups.append([])
            size = 0
        groups[-1].append(element)
        size += element.tokens
    return groups


def _begins_group(element: Element, limit: int) -> bool:
    return unit_interval(element.name) < element.tokens * BOUNDARIES_PER_LIMIT / limit
