"""Brings topics, their edges, their pages' rows, the contents and the links up to date."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Connection, Engine

from llmwiki.config import OverviewSettings
from llmwiki.domain import Collection, TopicId
from llmwiki.overview.contents import Entry, summarise_contents, write_contents
from llmwiki.overview.outline import DocumentOutline, ProposedTopic, SectionOutline
from llmwiki.overview.reconciliation import KnownTopic, Reconciliation, reconcile
from llmwiki.overview.topics import propose_topics
from llmwiki.ports import Embedder
from llmwiki.store import anchors, contents, embeddings, topics
from llmwiki.store.topics import ChunkRow, TopicRow
from llmwiki.text.hashing import bag_hash, content_hash

SIBLINGS_EACH_SIDE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewReport:
    """What a refresh found: topics that live now, and how they changed."""

    topics: int
    added: int
    retired: int
    reanchored: int
    contents_changed: bool


def refresh_overview(
    engine: Engine, embedder: Embedder, settings: OverviewSettings, collection: Collection
) -> OverviewReport:
    """Derive the table of contents anew, in one transaction, keeping every key it can.

    Calls the embedder once at most, for the contents page, and only where that page changed.
    """
    with engine.connect() as connection:
        outlines = list(_outlines(topics.chunks(connection, collection)))
        proposed = propose_topics(outlines, settings)
        known = topics.all_topics(connection, collection)
        hashes = _source_hashes(outlines, proposed)
        reconciliation = reconcile(proposed, hashes, map(_known, known))
        new_ids = _apply(connection, collection, proposed, known, reconciliation)
        reanchored = anchors.reanchor_pages(connection, collection)
        entries = _entries(proposed, reconciliation)
        to_embed, changed = _save_contents(connection, collection, entries)
        if changed or new_ids or reconciliation.gone:
            contents.relink(connection, collection, siblings=SIBLINGS_EACH_SIDE)
        connection.commit()
    embeddings.embed_missing(engine, collection, embedder, {content_hash(to_embed): to_embed})
    return OverviewReport(
        topics=len(proposed),
        added=len(new_ids),
        retired=len(reconciliation.gone),
        reanchored=reanchored,
        contents_changed=changed,
    )


def _save_contents(
    connection: Connection, collection: Collection, entries: Sequence[Entry]
) -> tuple[str, bool]:
    """Write the contents page; return what is to be embedded of it, and whether it changed."""
    title = f"Overview of {collection.name}"
    summary = summarise_contents(collection.name, entries)
    to_embed = embeddings.page_embedding_text(title, summary, [])
    _, changed = contents.save_overview(
        connection,
        collection,
        title=title,
        summary=summary,
        body=write_contents(entries),
        embedding_hash=content_hash(to_embed),
    )
    return to_embed, changed


def _outlines(rows: Iterable[ChunkRow]) -> Iterator[DocumentOutline]:
    for (path, title), document in groupby(
        rows, key=lambda row: (row.document_path, row.document_title)
    ):
        sections = [
            _section(breadcrumb, list(chunks))
            for (_, breadcrumb), chunks in groupby(
                document, key=lambda row: (row.section_position, row.breadcrumb)
            )
        ]
        yield DocumentOutline(path=path, title=title, sections=tuple(sections))


def _section(breadcrumb: tuple[str, ...], chunks: Sequence[ChunkRow]) -> SectionOutline:
    return SectionOutline(
        breadcrumb=breadcrumb,
        chunk_ids=tuple(chunk.chunk_id for chunk in chunks),
        content_hashes=tuple(chunk.content_hash for chunk in chunks),
        token_counts=tuple(chunk.token_count for chunk in chunks),
    )


def _source_hashes(
    outlines: Iterable[DocumentOutline], proposed: Iterable[ProposedTopic]
) -> list[str]:
    """Return, for each suggestion, the hash that its page would be compiled from."""
    contents_of = {
        chunk_id: content
        for outline in outlines
        for section in outline.sections
        for chunk_id, content in zip(section.chunk_ids, section.content_hashes, strict=True)
    }
    return [bag_hash(contents_of[chunk_id] for chunk_id in topic.chunk_ids) for topic in proposed]


def _known(topic: TopicRow) -> KnownTopic:
    return KnownTopic(
        id=topic.id,
        key=topic.key,
        retired=topic.retired,
        chunk_ids=frozenset(topic.chunk_ids),
        source_hash=topic.source_hash,
    )


def _apply(
    connection: Connection,
    collection: Collection,
    proposed: Sequence[ProposedTopic],
    known: Iterable[TopicRow],
    reconciliation: Reconciliation,
) -> list[TopicId]:
    """Write what differs; return the ids of the new topics."""
    stored = {topic.id: topic for topic in known}
    topics.retire_topics(connection, reconciliation.gone)
    contents.retire_pages(connection, reconciliation.gone)
    new = [
        (key, proposed[index].title, proposed[index].folder, index)
        for index, key in reconciliation.new_keys.items()
    ]
    new_ids = topics.insert_topics(connection, collection, new)
    contents.add_pages(
        connection,
        collection,
        [(topic_id, key, title) for topic_id, (key, title, _, _) in zip(new_ids, new, strict=True)],
    )
    edges = [
        (topic_id, proposed[index].chunk_ids)
        for topic_id, index in zip(new_ids, reconciliation.new_keys, strict=True)
    ]
    edges += [
        (topic.id, proposed[index].chunk_ids)
        for index, topic in reconciliation.continued.items()
        if stored[topic.id].chunk_ids != proposed[index].chunk_ids
    ]
    topics.update_topics(connection, _moved(proposed, stored, reconciliation))
    contents.revive_pages(
        connection, [topic.id for topic in reconciliation.continued.values() if topic.retired]
    )
    topics.set_topic_chunks(connection, collection, edges)
    return new_ids


def _moved(
    proposed: Sequence[ProposedTopic],
    stored: Mapping[TopicId, TopicRow],
    reconciliation: Reconciliation,
) -> list[tuple[TopicId, str, str, int]]:
    """Return id, title, folder and position of topics that go on elsewhere, or live again."""
    moved = []
    for index, topic in reconciliation.continued.items():
        row, proposal = stored[topic.id], proposed[index]
        was = (row.title, row.folder, row.position, row.retired)
        if was != (proposal.title, proposal.folder, index, False):
            moved.append((topic.id, proposal.title, proposal.folder, index))
    return moved


def _entries(proposed: Sequence[ProposedTopic], reconciliation: Reconciliation) -> list[Entry]:
    return [
        Entry(
            slug=(
                reconciliation.continued[index].key
                if index in reconciliation.continued
                else reconciliation.new_keys[index]
            ),
            title=topic.title,
            folder=topic.folder,
        )
        for index, topic in enumerate(proposed)
    ]
