"""Lints the compiled wiki of one collection: gathers facts, applies every rule."""

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from llmwiki.config import CompileSettings
from llmwiki.domain import Collection, Finding
from llmwiki.lint.rule import Facts, Rule
from llmwiki.lint.rules import TEXT_RULES, WIKI_RULES
from llmwiki.lint.wiki import Wiki
from llmwiki.store.lint_facts import document_gaps, live_pages, lost_links, topics_without_page
from llmwiki.store.lint_texts import page_texts
from llmwiki.store.pages import find_overview


def lint_collection(
    connection: Connection, collection: Collection, settings: CompileSettings
) -> tuple[Finding, ...]:
    """Return every violation in the collection's live wiki, errors first, in a fixed order.

    Reads only, spends no call. Give it a connection whose transaction is repeatable read where
    jobs run at the same time; else a page that is written meanwhile may be judged half.
    """
    wiki = _gather(connection, collection, settings)
    findings = list(_apply(WIKI_RULES, wiki, collection))
    slugs = frozenset(page.slug for page in wiki.pages)
    for page_text in page_texts(connection, list(wiki.compiled_from_sources()), slugs):
        findings += _apply(TEXT_RULES, page_text, collection)
    return tuple(sorted(findings, key=_order))


def _gather(connection: Connection, collection: Collection, settings: CompileSettings) -> Wiki:
    overview = find_overview(connection, collection)
    live = overview is not None and overview.retired_at is None and overview.kind == "overview"
    return Wiki(
        dimension=collection.embedder.dimension,
        max_page_characters=settings.gate.max_page_characters,
        contents=overview.body if overview is not None and live else None,
        pages=live_pages(connection, collection),
        lost_links=lost_links(connection, collection),
        topics_without_page=topics_without_page(connection, collection),
        document_gaps=document_gaps(connection, collection),
    )


def _apply(rules: Iterable[Rule[Facts]], facts: Facts, collection: Collection) -> Iterator[Finding]:
    for rule in rules:
        for violation in rule.check(facts):
            yield Finding(
                code=rule.code,
                severity=violation.severity or rule.severity,
                message=violation.message,
                collection_id=collection.id,
                page_id=violation.page_id,
                slug=violation.slug,
            )


def _order(finding: Finding) -> tuple[bool, str, str, str]:
    return finding.severity != "error", finding.code, finding.slug or "", finding.message
