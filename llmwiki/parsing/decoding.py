"""Makes text of bytes, or says why it cannot."""

import codecs

from llmwiki.errors import DocumentError

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


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
