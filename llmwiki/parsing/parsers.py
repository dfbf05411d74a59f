"""Chooses the parser of a file by its ending, and turns a parser's crash into a problem."""

from typing import assert_never

from llmwiki.errors import DocumentError
from llmwiki.parsing.decoding import decode
from llmwiki.parsing.formats import FORMATS, Format, format_of
from llmwiki.parsing.html.parser import parse_html
from llmwiki.parsing.markdown.parser import parse_markdown
from llmwiki.parsing.parsed import ParsedDocument
from llmwiki.parsing.pdf.parser import parse_pdf
from llmwiki.parsing.plain import parse_plain
from llmwiki.parsing.restructured_text.parser import parse_restructured_text


def parse(path: str, data: bytes) -> ParsedDocument:
    """Parse the bytes of a document.

    Raises DocumentError whatever else went wrong: one file must not end the run of the others.
    """
    document_format = format_of(path)
    if document_format is None:
        raise DocumentError(path, "is of no known format", f"use one of {', '.join(FORMATS)}")
    try:
        return _parse_as(document_format, path, data)
    except (DocumentError, MemoryError):
        raise
    except Exception as error:
        raise DocumentError(
            path,
            f"cannot be parsed as {document_format} ({type(error).__name__}: {error})",
            "simplify or repair the file, and report it if it is valid",
        ) from error


def _parse_as(document_format: Format, path: str, data: bytes) -> ParsedDocument:
    match document_format:
        case "Markdown":
            return parse_markdown(path, decode(path, data))
        case "reStructuredText":
            return parse_restructured_text(path, decode(path, data))
        case "plain text":
            return parse_plain(path, decode(path, data))
        case "HTML":
            return parse_html(path, decode(path, data))
        case "PDF":
            return parse_pdf(path, data)
        case _:
            assert_never(document_format)
