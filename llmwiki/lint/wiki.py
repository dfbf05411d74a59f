"""The structure of a wiki, as the rules see it."""

from collections.abc import Iterator
from dataclasses import dataclass

from llmwiki.store.lint_facts import DocumentGaps, LostLink, PageFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiki:
    """The wiki of one collection without its texts. Retired pages are no part of it."""

    dimension: int
    max_page_characters: int
    contents: str | None
    """Markdown of the contents page, None where there is no such page."""
    pages: tuple[PageFacts, ...]
    lost_links: tuple[LostLink, ...]
    topics_without_page: tuple[str, ...]
    document_gaps: tuple[DocumentGaps, ...]

    def compiled(self) -> Iterator[PageFacts]:
        """Yield the pages that have a text, the contents page among them."""
        return (page for page in self.pages if page.compiled)

    def compiled_from_sources(self) -> Iterator[PageFacts]:
        """Yield the pages that a generator wrote."""
        return (page for page in self.compiled() if page.kind == "page")
