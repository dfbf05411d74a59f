"""PDF becomes sections: along its outline where it has one, else one a page."""

from importlib.util import find_spec
from pathlib import PurePosixPath

from llmwiki.errors import DocumentError
from llmwiki.parsing.builder import DocumentBuilder
from llmwiki.parsing.gfm import fold
from llmwiki.parsing.parsed import ParsedDocument
from llmwiki.parsing.pdf.text import (
    Bookmark,
    hyphenated_words,
    paragraphs,
    split_at_bookmarks,
    without_running_lines,
)


def parse_pdf(path: str, data: bytes) -> ParsedDocument:
    """Parse the text layer of a PDF.

    Raises DocumentError when pypdf is not installed, and for a file that is encrypted, damaged
    or a mere scan.
    """
    if find_spec("pypdf") is None:
        raise DocumentError(
            path, "is a PDF, which needs pypdf", "run `pip install llmwiki-compiler[pdf]`"
        )
    from llmwiki.parsing.pdf.reading import read_pdf  # noqa: PLC0415  # an optional extra

    content = read_pdf(path, data)
    pages = without_running_lines(content.pages)
    if not any(line.strip() for page in pages for line in page):
        raise DocumentError(
            path, "has no text layer", "add one by text recognition, as with `ocrmypdf`"
        )
    builder = DocumentBuilder()
    bookmarks = content.bookmarks or _one_a_page(pages)
    hyphenated = hyphenated_words(pages)
    for bookmark, lines in split_at_bookmarks(pages, bookmarks):
        if bookmark is not None:
            builder.heading(bookmark.level, bookmark.title)
        for paragraph in paragraphs(lines, hyphenated):
            builder.paragraph(paragraph)
    name = "" if content.bookmarks else PurePosixPath(path).stem
    return builder.document(path, title=fold(content.title) or name)


def _one_a_page(pages: list[list[str]]) -> tuple[Bookmark, ...]:
    return tuple(
        Bookmark(level=1, title=f"Page {number}", page=number - 1)
        for number, lines in enumerate(pages, start=1)
        if any(line.strip() for line in lines)
    )
