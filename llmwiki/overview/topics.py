"""Derives, purely, the topics that a corpus suggests.

A document of ordinary size is a topic. Small ones share a topic with their neighbours in the
folder; large ones are divided by their headings, and where those do not help, by chunks.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from llmwiki.config import OverviewSettings
from llmwiki.domain import ChunkId
from llmwiki.overview.grouping import Element, group
from llmwiki.overview.outline import DocumentOutline, ProposedTopic, SectionOutline
from llmwiki.text.slugs import slugify, slugify_path

_INDEX_NAMES = frozenset({"index", "readme"})
"""Files that stand for their folder."""

_LONGEST_TITLE_PART = 70

RESERVED_KEYS = frozenset({"overview"})
"""Slugs that pages of no topic have."""


def propose_topics(
    documents: Iterable[DocumentOutline], settings: OverviewSettings
) -> list[ProposedTopic]:
    """Return the topics in reading order, with distinct keys; empty documents have none."""
    by_folder: dict[str, list[DocumentOutline]] = defaultdict(list)
    for document in documents:
        if document.chunk_ids:
            by_folder[document.folder].append(document)
    topics = [
        topic
        for folder in sorted(by_folder, key=_folder_order)
        for topic in _topics_of_folder(folder, by_folder[folder], settings)
    ]
    return _with_distinct_keys(topics)


def _folder_order(folder: str) -> tuple[str, ...]:
    return PurePosixPath(folder).parts


def _topics_of_folder(
    folder: str, documents: Sequence[DocumentOutline], settings: OverviewSettings
) -> list[ProposedTopic]:
    ordered = sorted(documents, key=lambda document: document.path)
    small = [document for document in ordered if document.tokens < settings.small_document_tokens]
    topics: list[tuple[str, ProposedTopic]] = []
    for document in ordered:
        if document.tokens > settings.topic_tokens:
            topics += [(document.path, topic) for topic in _divide(document, settings.topic_tokens)]
        elif document.tokens >= settings.small_document_tokens:
            topics.append((document.path, _whole(document)))
    topics += _share(folder, small, settings.topic_tokens)
    return [topic for _, topic in sorted(topics, key=lambda entry: entry[0])]


def _whole(document: DocumentOutline) -> ProposedTopic:
    return ProposedTopic(
        key=document_key(document.path),
        title=document.title,
        folder=document.folder,
        chunk_ids=document.chunk_ids,
    )


def _share(
    folder: str, documents: Sequence[DocumentOutline], limit: int
) -> Iterator[tuple[str, ProposedTopic]]:
    paths = {PurePosixPath(document.path).name: document.path for document in documents}
    elements = [
        Element(
            name=name,
            title=document.title,
            tokens=document.tokens,
            chunk_ids=document.chunk_ids,
        )
        for name, document in zip(paths, documents, strict=True)
    ]
    for members in group(elements, limit):
        first = paths[members[0].name]
        yield (
            first,
            ProposedTopic(
                key=document_key(first),
                title=_shared_title(folder, members),
                folder=folder,
                chunk_ids=_chunks(members),
            ),
        )


def _divide(document: DocumentOutline, limit: int) -> Iterator[ProposedTopic]:
    key = document_key(document.path)
    for index, members in enumerate(group(_elements(document, limit), limit)):
        yield ProposedTopic(
            key=key if index == 0 else f"{key}/{slugify(members[0].title) or index}",
            title=_span_title(document.title, members),
            folder=document.folder,
            chunk_ids=_chunks(members),
        )


def _elements(document: DocumentOutline, limit: int) -> Iterator[Element]:
    """Yield the sections, each with the deeper ones below it while they fit together."""
    yield from _subtree(document, list(document.sections), 1, limit)


def _subtree(
    document: DocumentOutline, sections: list[SectionOutline], depth: int, limit: int
) -> Iterator[Element]:
    """Divide at headings of this depth, and go deeper where a part is still too large."""
    start = 0
    while start < len(sections):
        heading = sections[start].breadcrumb[: depth + 1]
        end = start + 1
        while end < len(sections) and sections[end].breadcrumb[: depth + 1] == heading:
            end += 1
        part = sections[start:end]
        if sum(section.tokens for section in part) <= limit:
            yield _section_element(heading, part)
        elif len(part) > 1 and any(len(section.breadcrumb) > depth + 1 for section in part):
            yield from _subtree(document, part, depth + 1, limit)
        else:
            for section in part:
                yield from _chunk_elements(section)
        start = end


def _section_element(heading: tuple[str, ...], part: Sequence[SectionOutline]) -> Element:
    return Element(
        name="\n".join(heading[1:]),
        title=_heading_title(heading),
        tokens=sum(section.tokens for section in part),
        chunk_ids=tuple(chunk for section in part for chunk in section.chunk_ids),
    )


def _chunk_elements(section: SectionOutline) -> Iterator[Element]:
    """Chunks have no name of their own; their content serves, so an edit may move a boundary."""
    for chunk_id, content, tokens in zip(
        section.chunk_ids, section.content_hashes, section.token_counts, strict=True
    ):
        yield Element(
            name=content,
            title=_heading_title(section.breadcrumb),
            tokens=tokens,
            chunk_ids=(chunk_id,),
        )


def _heading_title(breadcrumb: tuple[str, ...]) -> str:
    """Name a section by its heading and the one above: `Request` alone says little."""
    return " › ".join(breadcrumb[1:][-2:]) or breadcrumb[0]  # noqa: RUF001 - a separator


def document_key(path: str) -> str:
    """Return the slug that a document's own topic has."""
    without_ending = PurePosixPath(path).with_suffix("")
    if without_ending.name.strip("_").casefold() in _INDEX_NAMES and without_ending.parent.name:
        without_ending = without_ending.parent
    return slugify_path(str(without_ending)) or "page"


def _chunks(members: Iterable[Element]) -> tuple[ChunkId, ...]:
    return tuple(chunk for element in members for chunk in element.chunk_ids)


def folder_title(folder: str) -> str:
    """Return a readable name of a folder, empty for the root."""
    return PurePosixPath(folder).name.replace("-", " ").replace("_", " ").strip().capitalize()


def _shared_title(folder: str, members: Sequence[Element]) -> str:
    if len(members) == 1:
        return members[0].title
    return _span_title(folder_title(folder), members)


def _span_title(whole: str, members: Sequence[Element]) -> str:
    """Name a group by its first and last member; only what is in the group decides."""
    first, last = (_shorten(member.title) for member in (members[0], members[-1]))
    whole = _shorten(whole)
    if first == whole:
        return whole if first == last else f"{whole} – {last}"  # noqa: RUF001 - an en dash
    span = first if first == last else f"{first} – {last}"  # noqa: RUF001 - an en dash
    return f"{whole}: {span}" if whole else span


def _shorten(title: str) -> str:
    if len(title) <= _LONGEST_TITLE_PART:
        return title
    return title[:_LONGEST_TITLE_PART].rsplit(" ", 1)[0].rstrip(" ,;:.-") + "…"


def _with_distinct_keys(topics: Iterable[ProposedTopic]) -> list[ProposedTopic]:
    taken = set(RESERVED_KEYS)
    result = []
    for topic in topics:
        key, number = topic.key, 1
        while key in taken:
            number += 1
            key = f"{topic.key}-{number}"
        taken.add(key)
        result.append(
            ProposedTopic(
                key=key, title=topic.title, folder=topic.folder, chunk_ids=topic.chunk_ids
            )
        )
    return result
