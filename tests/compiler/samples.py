"""Small topics, chunks and drafts for the tests of the compiler."""

from llmwiki.domain import (
    ChunkId,
    CollectionId,
    PageDraft,
    PageSection,
    SourceChunk,
    Statement,
    StatementKind,
    Topic,
    TopicId,
    TopicSources,
)
from llmwiki.text.hashing import content_hash
from llmwiki.text.tokens import count_tokens


def chunk(
    number: int, text: str, *, breadcrumb: tuple[str, ...] = ("Relay",), path: str = "relay.md"
) -> SourceChunk:
    return SourceChunk(
        id=ChunkId(number),
        document_path=path,
        breadcrumb=breadcrumb,
        text=text,
        content_hash=content_hash(text),
        token_count=count_tokens(text),
    )


def topic_sources(number: int, title: str, *chunks: SourceChunk) -> TopicSources:
    topic = Topic(
        id=TopicId(number), collection_id=CollectionId(1), key=f"topic-{number}", title=title
    )
    return TopicSources(topic=topic, chunks=chunks)


def statement(text: str, *chunk_ids: int, kind: StatementKind = "prose") -> Statement:
    return Statement(text=text, chunk_ids=tuple(map(ChunkId, chunk_ids)), kind=kind)


def draft(
    *statements: Statement,
    tldr: Statement,
    title: str = "Relay",
    tags: tuple[str, ...] = ("relay",),
    heading: str = "",
) -> PageDraft:
    return PageDraft(
        title=title,
        tldr=tldr,
        tags=tags,
        sections=(PageSection(heading=heading, statements=statements),),
    )
