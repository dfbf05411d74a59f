"""Reads the bytes of a source file and makes text of them, or says why it cannot."""

import codecs
import stat

from llmwiki.errors import DocumentError
from llmwiki.ingest.discovery import SourceFile

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def read_source(file: SourceFile, *, max_bytes: int) -> bytes:
    """Return the content of the file as it is now.

    Raises DocumentError when it is gone, not readable, not a regular file or too large.
    """
    try:
        status = file.location.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(file.path, "is not a regular file", "remove it from the folder")
        if status.st_size > max_bytes:
            raise _too_large(file, status.st_size, max_bytes)
        with file.location.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise DocumentError(
            file.path, "has vanished since the folder was listed", "run the command again"
        ) from error
    except PermissionError as error:
        raise DocumentError(
            file.path, "may not be read by this user", "grant the permission to read it"
        ) from error
    except OSError as error:
        raise DocumentError(
            file.path, f"cannot be read: {error.strerror}", "check the file and its disk"
        ) from error
    if len(data) > max_bytes:
        raise _too_large(file, len(data), max_bytes)
    return data


def decode(path: str, data: bytes) -> str:
    """Return the text of UTF-8, or of UTF-16 with a byte order mark, with lines ending in LF."""
    mark, encoding = _encoding(data)
    if encoding == "utf-8" and b"\0" in data:
        raise _binary(path, data.index(0))
    try:
        text = data[mark:].decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            path,
            f"is not valid {encoding.upper()} at byte offset {mark + error.start}",
            "convert it, as with `iconv -f WINDOWS-1252 -t UTF-8`",
        ) from error
    if "\0" in text:
        raise _binary(path, mark + len(text[: text.index("\0")].encode(encoding)))
    if not text.strip():
        raise DocumentError(path, "is empty", "write it or remove it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _encoding(data: bytes) -> tuple[int, str]:
    """Return the length of the byte order mark and the encoding that it means."""
    if data.startswith(codecs.BOM_UTF8):
        return len(codecs.BOM_UTF8), "utf-8"
    encoding = _UTF_16.get(data[:2])
    return (2, encoding) if encoding else (0, "utf-8")


def _binary(path: str, offset: int) -> DocumentError:
    return DocumentError(
        path,
        f"is not text: a NUL at byte offset {offset}",
        "convert it to UTF-8 with `iconv` if it is UTF-16, else give it its true ending",
    )


def _too_large(file: SourceFile, size: int, max_bytes: int) -> DocumentError:
    return DocumentError(
        file.path,
        f"has {size} bytes, more than the {max_bytes} allowed",
        "split it or raise ingest.max_file_bytes",
    )
