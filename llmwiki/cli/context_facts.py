"""A context as the JSON that the commands print."""

from typing import Any

from llmwiki.retrieval.context import Context, ContextBlock
from llmwiki.retrieval.wiki_pages import ContextPage


def context_facts(context: Context, *, trace: bool) -> dict[str, Any]:
    """Return a context as JSON values, with its events where the trace is wanted."""
    facts = {
        "question": context.question,
        "route": context.route,
        "embed_query": context.embed_query,
        "has_evidence": context.has_evidence,
        "missing_families": list(context.missing_families),
        "tokens": context.tokens,
        "chunks": [_block_facts(block) for block in context.blocks],
        "pages": [_page_facts(page) for page in context.pages],
        "overviews": [
            {"collection": each.collection, "summary": each.summary, "contents": each.contents}
            for each in context.anchors
        ],
    }
    events = {"events": [event.facts() for event in context.events]} if trace else {}
    return facts | events


def _block_facts(block: ContextBlock) -> dict[str, Any]:
    first = block.first
    return {
        "number": block.number,
        "chunk_ids": list(block.chunk_ids),
        "document": first.document_path,
        "breadcrumb": list(first.breadcrumb),
        "table_header": block.table_header,
        "text": block.text,
        "score": block.score,
        "found_by": list(block.found_by),
        "evidence_family": first.evidence_family,
        "authority_tier": first.authority_tier,
        "version": first.version,
        "page": first.page_slug,
        "page_compiled": first.page_compiled,
        "page_stale": first.page_stale,
    }


def _page_facts(page: ContextPage) -> dict[str, Any]:
    return {
        "slug": page.page.slug,
        "title": page.page.title,
        "tldr": page.page.tldr,
        "written_by": page.page.generator_kind,
        "stale": page.page.stale,
        "stale_reasons": list(page.page.stale_reasons),
        "score": page.score,
        "statements": [
            {
                "text": statement.text,
                "kind": statement.kind,
                "chunk_ids": list(statement.chunk_ids),
                "affected": statement.affected,
            }
            for statement in page.statements
        ],
    }
