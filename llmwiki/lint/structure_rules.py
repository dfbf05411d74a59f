"""Rules over pages, topics and the links between them."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from llmwiki.lint.remedies import DRAIN, INGEST, recompile
from llmwiki.lint.rule import Violation, about, rule
from llmwiki.lint.wiki import Wiki
from llmwiki.lint.wikilinks import link_targets
from llmwiki.store.lint_facts import PageFacts
from llmwiki.text.hashing import normalise

_NAMED = 3
"""Pages that a message names before it only counts the rest."""


@rule("orphan-page", "error", "A compiled page is not linked by the contents page.")
def orphan_page(wiki: Wiki) -> Iterator[Violation]:
    """Ask for both the link and the line in the text: a reader follows one or the other."""
    if wiki.contents is None:
        if any(wiki.compiled()):
            yield Violation(message=f"the wiki has no contents page; {INGEST}", slug="overview")
        return
    listed = set(link_targets(wiki.contents))
    for page in wiki.compiled_from_sources():
        if not page.linked_by_contents or page.slug not in listed:
            yield about(page, f"is not linked by the contents page; {INGEST}")


@rule("broken-wikilink", "error", "A link leads to a page that is retired or does not exist.")
def broken_wikilink(wiki: Wiki) -> Iterator[Violation]:
    """Leave out links to pages that wait for their first text: never-compiled tells of those."""
    for link in wiki.lost_links:
        yield Violation(
            message=f"page `{link.slug}` links `{link.target_slug}`, which is retired or of "
            f"another collection; {INGEST}",
            slug=link.slug,
            page_id=link.page_id,
        )
    live = {page.slug for page in wiki.pages}
    overview = next((page for page in wiki.pages if page.kind == "overview"), None)
    if overview is not None:
        for target in sorted(set(link_targets(wiki.contents or "")) - live):
            yield about(overview, f"names `{target}`, which is no live page; {INGEST}")


@rule("topic-without-page", "error", "A live topic has no live page.")
def topic_without_page(wiki: Wiki) -> Iterator[Violation]:
    """Find topics that can never be compiled."""
    for key in wiki.topics_without_page:
        remedy = "remove the topic's row from table topic, then run `llmwiki ingest`"
        yield Violation(message=f"topic `{key}` has no live page; {remedy}", slug=key)


@rule("never-compiled", "warning", "A page waits for its first text.")
def never_compiled(wiki: Wiki) -> Iterator[Violation]:
    """Warn only: in a young wiki such pages are ordinary."""
    for page in wiki.pages:
        if not page.compiled:
            remedy = recompile(page.slug) if page.quarantined else DRAIN
            yield about(page, f"has no text yet; {remedy}")


@rule("oversized-page", "warning", "A page is longer than compile.gate.max_page_characters.")
def oversized_page(wiki: Wiki) -> Iterator[Violation]:
    """Spare the contents page, which grows with the corpus."""
    limit = wiki.max_page_characters
    for page in wiki.compiled_from_sources():
        if page.body_characters > limit:
            excess = f"has {page.body_characters} characters, more than the {limit} allowed"
            yield about(
                page,
                f"{excess}; lower overview.topic_tokens or raise compile.gate.max_page_characters",
            )


@rule("duplicate-slug", "error", "Two slugs differ in nothing but case or Unicode form.")
def duplicate_slug(wiki: Wiki) -> Iterator[Violation]:
    """Find pages that overwrite each other when they are exported as files."""
    for page, others in _sharing(wiki, lambda page: page.slug):
        same = f"differs from {_names(others)} in nothing but case or Unicode form"
        yield about(page, f"{same}; rename a source file, then run `llmwiki ingest`")


@rule("duplicate-title", "warning", "Two pages have the same title.")
def duplicate_title(wiki: Wiki) -> Iterator[Violation]:
    """Warn only: the slugs tell such pages apart."""
    for page, others in _sharing(wiki, lambda page: page.title):
        same = f"has the title “{page.title}”, and so has {_names(others)}"
        yield about(
            page, f"{same}; give the sources other titles or headings, then run `llmwiki ingest`"
        )


def _sharing(
    wiki: Wiki, name: Callable[[PageFacts], str]
) -> Iterator[tuple[PageFacts, list[PageFacts]]]:
    """Yield the pages of the same name: the first by slug, and the others."""
    groups: dict[str, list[PageFacts]] = defaultdict(list)
    for page in sorted(wiki.pages, key=lambda page: page.slug):
        groups[_caseless(name(page))].append(page)
    for shared, (first, *others) in groups.items():
        if shared and others:
            yield first, others


def _caseless(text: str) -> str:
    # Decomposed first, since folding alone tells a letter from the same with its accent apart.
    return normalise(unicodedata.normalize("NFD", text).casefold())


def _names(pages: Iterable[PageFacts]) -> str:
    slugs = [f"`{page.slug}`" for page in pages]
    more = f" and {len(slugs) - _NAMED} more" if len(slugs) > _NAMED else ""
    return ", ".join(slugs[:_NAMED]) + more
