"""A compiled page, its revisions, and the JSON that a kept revision is stored as."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from llmwiki.domain import ChunkId, GeneratorIdentity, PageDraft, PageSection, Statement
from llmwiki.store import page_content
from llmwiki.store.embeddings import page_embedding_text
from llmwiki.text.hashing import content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPage:
    """Everything that a compile writes, beside the edges."""

    title: str
    topic_title: str
    tldr: Statement
    tags: tuple[str, ...]
    sections: tuple[PageSection, ...]
    body: str
    embedding_hash: str
    source_hash: str
    recipe_hash: str
    generator: GeneratorIdentity

    @property
    def text(self) -> PageDraft:
        """Title, summary, tags and sections."""
        return PageDraft(title=self.title, tldr=self.tldr, tags=self.tags, sections=self.sections)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A chunk that a page was compiled from, as it was then."""

    chunk_id: ChunkId
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A kept revision, with everything that it takes to return to it."""

    number: int
    compiled_at: datetime
    page: CompiledPage
    edges: tuple[Edge, ...]
    """In reading order."""
    restored_from: int | None
    """The revision that it is a copy of, after a rollback."""


def to_json(revision: Revision) -> dict[str, Any]:
    """Return the revision as JSON values, without its number and its time."""
    page = revision.page
    return {
        **page_content.to_json(page.text),
        "topic_title": page.topic_title,
        "body": page.body,
        "source_hash": page.source_hash,
        "recipe_hash": page.recipe_hash,
        "generator_kind": page.generator.kind,
        "generator": page.generator.name,
        "generator_version": page.generator.version,
        "edges": [asdict(edge) for edge in revision.edges],
        "restored_from": revision.restored_from,
    }


def from_json(number: int, compiled_at: datetime, content: dict[str, Any]) -> Revision:
    """Return the revision of that number and time that ``to_json`` was given."""
    draft = page_content.from_json(content)
    to_embed = page_embedding_text(draft.title, draft.tldr.text, draft.tags)
    return Revision(
        number=number,
        compiled_at=compiled_at,
        page=CompiledPage(
            title=draft.title,
            topic_title=content["topic_title"],
            tldr=draft.tldr,
            tags=draft.tags,
            sections=draft.sections,
            body=content["body"],
            embedding_hash=content_hash(to_embed),
            source_hash=content["source_hash"],
            recipe_hash=content["recipe_hash"],
            generator=GeneratorIdentity(
                kind=content["generator_kind"],
                name=content["generator"],
                version=content["generator_version"],
            ),
        ),
        edges=tuple(
            Edge(chunk_id=ChunkId(edge["chunk_id"]), content_hash=edge["content_hash"])
            for edge in content["edges"]
        ),
        restored_from=content.get("restored_from"),
    )
