"""Takes lines and outline out of a PDF. The only module that imports pypdf."""

import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError
from pypdf.generic import Destination

from llmwiki.errors import DocumentError
from llmwiki.parsing.pdf.text import Bookmark

_LOG = logging.getLogger("pypdf")


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfContent:
    """What a PDF says, page by page."""

    title: str
    pages: tuple[tuple[str, ...], ...]
    """The lines of each page."""
    bookmarks: tuple[Bookmark, ...]
    """The outline, in its own order."""


def read_pdf(path: str, data: bytes) -> PdfContent:
    """Read a PDF; raises DocumentError when it is encrypted or damaged."""
    # It warns of each oddity of a file; what matters raises.
    _LOG.setLevel(logging.ERROR)
    try:
        return _read(PdfReader(io.BytesIO(data), strict=False))
    except MemoryError:
        raise
    except (DependencyError, FileNotDecryptedError, NotImplementedError) as error:
        raise DocumentError(
            path, "is encrypted", "remove its password, as with `qpdf --decrypt`"
        ) from error
    except Exception as error:  # a damaged file fails in any of the library's functions
        raise DocumentError(
            path, f"is a damaged PDF ({error})", "repair it, as with `qpdf`, or export it anew"
        ) from error


def _read(reader: PdfReader) -> PdfContent:
    if reader.is_encrypted:
        reader.decrypt("")  # many files are only protected against changes
    metadata = reader.metadata
    return PdfContent(
        title=str(metadata.title or "") if metadata else "",
        pages=tuple(tuple(page.extract_text().splitlines()) for page in reader.pages),
        bookmarks=_bookmarks(reader),
    )


def _bookmarks(reader: PdfReader) -> tuple[Bookmark, ...]:
    """Flatten the outline, a list in which a list holds what is below the entry before it."""
    found: list[Bookmark] = []
    levels: list[Iterator[object]] = [iter(reader.outline)]
    while levels:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
        elif isinstance(entry, list):
            levels.append(iter(entry))
        elif isinstance(entry, Destination) and entry.title:
            page = _page_of(reader, entry)
            if page is not None:
                title = " ".join(entry.title.split())
                found.append(Bookmark(level=len(levels), title=title, page=page))
    return tuple(found)


def _page_of(reader: PdfReader, entry: Destination) -> int | None:
    """Return the page that an entry leads to; some lead to another file or nowhere."""
    page = reader.get_destination_page_number(entry)
    return page if page is not None and page >= 0 else None
