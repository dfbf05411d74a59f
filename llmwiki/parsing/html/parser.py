"""HTML becomes sections and blocks: the main content of the page, without what surrounds it.

Everything here walks with a stack of its own, as pages may nest deeper than Python recurses.
"""

import re

from bs4 import BeautifulSoup, Tag

from llmwiki.parsing.builder import DocumentBuilder
from llmwiki.parsing.html.flow import FlowReader
from llmwiki.parsing.parsed import ParsedDocument

_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")


def parse_html(path: str, text: str) -> ParsedDocument:
    """Parse a page; its only ``h1`` is its title, else what its ``title`` element says."""
    page = _read(text)
    builder = DocumentBuilder()
    reader = FlowReader(builder)
    reader.read(_main_content(page))
    stated = page.find("title") if reader.top_headings != 1 else None
    return builder.document(path, title=stated.get_text() if stated else None)


def _read(text: str) -> BeautifulSoup:
    # Beautiful Soup warns about XHTML, which is HTML enough, and about text without a tag.
    return BeautifulSoup(f"<!DOCTYPE html>{_XML_DECLARATION.sub('', text)}", "lxml")


def _main_content(page: BeautifulSoup) -> Tag:
    """Return the element that the page declares as its content, if it does."""
    declared = page.find_all("main") or page.find_all(role="main")
    candidates = declared or page.find_all("article")
    with_text = [tag for tag in candidates if tag.get_text(strip=True)]
    if len(with_text) == 1:
        return with_text[0]
    return page.body or page
