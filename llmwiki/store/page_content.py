"""The text of a page as JSON, for revisions and for drafts that were refused."""

from typing import Any

from llmwiki.domain import ChunkId, PageDraft, PageSection, Statement


def to_json(draft: PageDraft) -> dict[str, Any]:
    """Return title, summary, tags and sections as JSON values."""
    return {
        "title": draft.title,
        "tldr": _statement_to_json(draft.tldr),
        "tags": list(draft.tags),
        "sections": [
            {
                "heading": section.heading,
                "statements": list(map(_statement_to_json, section.statements)),
            }
            for section in draft.sections
        ],
    }


def from_json(content: dict[str, Any]) -> PageDraft:
    """Return what ``to_json`` was given; other keys are left alone."""
    return PageDraft(
        title=content["title"],
        tldr=_statement_from_json(content["tldr"]),
        tags=tuple(content["tags"]),
        sections=tuple(
            PageSection(
                heading=section["heading"],
                statements=tuple(map(_statement_from_json, section["statements"])),
            )
            for section in content["sections"]
        ),
    )


def _statement_to_json(statement: Statement) -> dict[str, Any]:
    return {
        "text": statement.text,
        "kind": statement.kind,
        "chunk_ids": list(statement.chunk_ids),
    }


def _statement_from_json(value: dict[str, Any]) -> Statement:
    return Statement(
        text=value["text"], kind=value["kind"], chunk_ids=tuple(map(ChunkId, value["chunk_ids"]))
    )
