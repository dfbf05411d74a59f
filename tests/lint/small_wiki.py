"""A healthy wiki of two compiled pages, to be damaged by the tests of lint."""

# ruff: noqa: S608 - the statements are composed of constants of these tests

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, insert, text

from llmwiki.config import CompileSettings
from llmwiki.domain import (
    ChunkId,
    Collection,
    DocumentId,
    EmbedderIdentity,
    Finding,
    GeneratorIdentity,
    PageId,
    PageSection,
    SourceChunk,
    Statement,
    TopicId,
)
from llmwiki.lint.service import lint_collection
from llmwiki.overview.contents import Entry, summarise_contents, write_contents
from llmwiki.store import contents, topics
from llmwiki.store.chunks import ChunkValues, insert_chunks, topic_sources
from llmwiki.store.collections import create_collection
from llmwiki.store.compiled_page import CompiledPage
from llmwiki.store.corpus_tables import DocumentTable
from llmwiki.store.embeddings import add_embeddings
from llmwiki.store.page_writing import write_page
from llmwiki.text.hashing import content_hash

EMBEDDER = EmbedderIdentity(name="toy", dimension=8)
QUEUE = "The queue holds 12 jobs. See https://example.org/queue for more."
RETRIES = "Set `max_retries` to 3. Failed jobs wait."
LEDGER = "The ledger counts calls. A call is one attempt."


@dataclass(frozen=True, kw_only=True)
class SmallWiki:
    """A collection as one open transaction sees it."""

    connection: Connection
    collection: Collection

    def lint(self, settings: CompileSettings | None = None) -> tuple[Finding, ...]:
        """Return the findings."""
        return lint_collection(self.connection, self.collection, settings or CompileSettings())

    def damage(self, *statements: str) -> None:
        """Execute statements; {collection}, {queue}, {retries} and {ledger} stand for ids."""
        names = {"collection": str(self.collection.id)} | {
            name: f"(SELECT id FROM chunk WHERE breadcrumb[2] = '{name.title()}' "
            "AND parent_id IS NOT NULL)"
            for name in ("queue", "retries", "ledger")
        }
        for statement in statements:
            self.connection.execute(text(_fill(statement, names)))


def _fill(statement: str, names: Mapping[str, str]) -> str:
    # Not str.format: statements have braces of their own.
    for name in names:
        statement = statement.replace(f"{{{name}}}", names[name])
    return statement


def build_wiki(connection: Connection) -> Collection:
    """Write the wiki: page ``guide`` from two chunks, ``ledger`` from one, and the contents."""
    collection = create_collection(connection, "docs", "system", EMBEDDER)
    queue, retries = _document(
        connection, collection, "guide.md", [("Queue", QUEUE), ("Retries", RETRIES)]
    )
    (ledger,) = _document(connection, collection, "ledger.md", [("Ledger", LEDGER)])
    entries = [("guide", "Guide", "", 0), ("ledger", "Ledger", "", 1)]
    guide_topic, ledger_topic = topics.insert_topics(connection, collection, entries)
    topics.set_topic_chunks(
        connection, collection, [(guide_topic, [queue, retries]), (ledger_topic, [ledger])]
    )
    _overview(connection, collection, [(guide_topic, "guide"), (ledger_topic, "ledger")])
    _guide(connection, collection, guide_topic, queue, retries)
    _ledger(connection, collection, ledger_topic, ledger)
    return collection


def _document(
    connection: Connection, collection: Collection, path: str, chunks: Sequence[tuple[str, str]]
) -> list[ChunkId]:
    title = path.removesuffix(".md").title()
    document_id = connection.execute(
        insert(DocumentTable)
        .values(collection_id=collection.id, path=path, title=title, fingerprint=path, byte_size=1)
        .returning(DocumentTable.id)
    ).scalar_one()
    ids: list[ChunkId] = []
    for number, (heading, chunk) in enumerate(chunks):
        section = _values(number * 2, (title, heading), chunk)
        child = _values(number * 2 + 1, (title, heading), chunk, embedded=True)
        identity = DocumentId(document_id)
        (parent,) = insert_chunks(connection, collection, identity, [(None, section)])
        ids += insert_chunks(connection, collection, identity, [(parent, child)])
        _embed(connection, collection, chunk)
    return ids


def _values(
    position: int, breadcrumb: tuple[str, ...], chunk: str, *, embedded: bool = False
) -> ChunkValues:
    return ChunkValues(
        position=position,
        breadcrumb=breadcrumb,
        text=chunk,
        content_hash=content_hash(chunk),
        token_count=len(chunk.split()),
        embedding_hash=content_hash(chunk) if embedded else None,
        search_text=chunk if embedded else None,
    )


def _embed(connection: Connection, collection: Collection, words: str) -> str:
    hash_ = content_hash(words)
    vector = np.ones(EMBEDDER.dimension, dtype=np.float32)
    add_embeddings(connection, collection, EMBEDDER, {hash_: vector})
    return hash_


def _overview(
    connection: Connection, collection: Collection, keys: Sequence[tuple[TopicId, str]]
) -> None:
    contents.add_pages(connection, collection, [(id_, key, key.title()) for id_, key in keys])
    entries = [Entry(slug=key, title=key.title(), folder="") for _, key in keys]
    contents.save_overview(
        connection,
        collection,
        title="Overview of docs",
        summary=summarise_contents("docs", entries),
        body=write_contents(entries),
        embedding_hash=_embed(connection, collection, "overview"),
    )
    contents.relink(connection, collection, siblings=3)


def _guide(
    connection: Connection,
    collection: Collection,
    topic: TopicId,
    queue: ChunkId,
    retries: ChunkId,
) -> None:
    sections = (
        PageSection(
            heading="Queue", statements=(_says("See https://example.org/queue for more.", queue),)
        ),
        PageSection(
            heading="Retries",
            statements=(
                _says("Set `max_retries` to 3.", retries),
                _says("Failed jobs wait.", retries, queue),
            ),
        ),
    )
    _compile(connection, collection, topic, _says("The queue holds 12 jobs.", queue), sections)


def _ledger(
    connection: Connection, collection: Collection, topic: TopicId, ledger: ChunkId
) -> None:
    section = PageSection(heading="", statements=(_says("A call is one attempt.", ledger),))
    _compile(connection, collection, topic, _says("The ledger counts calls.", ledger), (section,))


def _says(words: str, *chunk_ids: ChunkId) -> Statement:
    return Statement(text=words, chunk_ids=chunk_ids)


def _compile(
    connection: Connection,
    collection: Collection,
    topic: TopicId,
    tldr: Statement,
    sections: tuple[PageSection, ...],
) -> None:
    row = connection.execute(
        text("SELECT id, title FROM page WHERE topic_id = :topic"), {"topic": topic}
    ).one()
    sources: tuple[SourceChunk, ...] = topic_sources(connection, [topic])[topic]
    page = CompiledPage(
        title=row.title,
        topic_title=row.title,
        tldr=tldr,
        tags=(),
        sections=sections,
        body="\n\n".join(item.text for section in sections for item in section.statements),
        embedding_hash=_embed(connection, collection, tldr.text),
        source_hash="sources",
        recipe_hash="recipe",
        generator=GeneratorIdentity(kind="extractive", name="extractive", version="1"),
    )
    assert write_page(connection, collection, PageId(row.id), 0, page, sources)
