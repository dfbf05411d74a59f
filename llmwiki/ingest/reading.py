"""Reads the bytes of a source file, or says why it cannot."""

import stat

from llmwiki.errors import DocumentError
from llmwiki.ingest.discovery import SourceFile


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


def _too_large(file: SourceFile, size: int, max_bytes: int) -> DocumentError:
    return DocumentError(
        file.path,
        f"has {size} bytes, more than the {max_bytes} allowed",
        "split it or raise ingest.max_file_bytes",
    )
