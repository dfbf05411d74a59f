import codecs
import os
from pathlib import Path

import pytest

from llmwiki.errors import DocumentError
from llmwiki.ingest.discovery import SourceFile
from llmwiki.ingest.reading import read_source
from llmwiki.parsing.decoding import decode


def source(location: Path) -> SourceFile:
    return SourceFile(path=location.name, location=location, size=0)


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    location = tmp_path / "a.md"
    location.write_bytes(b"one\r\n\xff")
    assert read_source(source(location), max_bytes=6) == b"one\r\n\xff"


def test_a_vanished_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"^a\.md: has vanished .*; run the command again$"):
        read_source(source(tmp_path / "a.md"), max_bytes=10)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    location = tmp_path / "a.md"
    with location.open("wb") as stream:
        stream.truncate(10**12)
    with pytest.raises(DocumentError, match=r"more than the 10 allowed; .*max_file_bytes"):
        read_source(source(location), max_bytes=10)


def test_a_file_that_grows_while_it_is_read_is_a_problem() -> None:
    endless = Path("/proc/self/status")  # says that it has no bytes
    if not endless.exists():
        pytest.skip("no /proc here")
    with pytest.raises(DocumentError, match="more than the 10 allowed"):
        read_source(source(endless), max_bytes=10)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    location = tmp_path / "a.md"
    location.write_text("x")
    location.chmod(0)
    with pytest.raises(DocumentError, match="grant the permission"):
        read_source(source(location), max_bytes=10)


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    location = tmp_path / "a.md"
    os.mkfifo(location)
    with pytest.raises(DocumentError, match="is not a regular file"):
        read_source(source(location), max_bytes=10)


def test_a_folder_and_a_device_are_no_documents(tmp_path: Path) -> None:
    for location in (tmp_path, Path(os.devnull)):
        with pytest.raises(DocumentError, match="is not a regular file"):
            read_source(source(location), max_bytes=10)


def test_a_link_to_itself_is_a_problem(tmp_path: Path) -> None:
    location = tmp_path / "a.md"
    location.symlink_to(location)
    with pytest.raises(DocumentError, match="cannot be read"):
        read_source(source(location), max_bytes=10)


@pytest.mark.parametrize(
    "data",
    [
        "naïve 字".encode(),
        codecs.BOM_UTF8 + "naïve 字".encode(),
        codecs.BOM_UTF16_LE + "naïve 字".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "naïve 字".encode("utf-16-be"),
    ],
)
def test_unicode_encodings_are_recognised(data: bytes) -> None:
    assert decode("a.md", data) == "naïve 字"


def test_lines_end_in_line_feeds() -> None:
    assert decode("a.md", b"a\r\nb\rc\n\r\n") == "a\nb\nc\n\n"


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"caf\xe9", 3),
        (codecs.BOM_UTF8 + b"ab\xff", 5),
        (codecs.BOM_UTF16_LE + b"a\0\xd8", 4),
    ],
)
def test_another_encoding_is_a_problem_that_names_the_offset(data: bytes, offset: int) -> None:
    with pytest.raises(DocumentError, match=rf"at byte offset {offset}; .*iconv"):
        decode("a.md", data)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"ab\0c", 2),
        (b"\x89PNG\r\n\0\xff", 6),
        ("UTF-16 without a mark".encode("utf-16-le"), 1),
        (codecs.BOM_UTF16_LE + b"a\0\0\0", 4),
        ("mark of UTF-32".encode("utf-32"), 2),
    ],
)
def test_a_binary_file_is_a_problem_that_names_the_offset(data: bytes, offset: int) -> None:
    with pytest.raises(DocumentError, match=f"is not text: a NUL at byte offset {offset};"):
        decode("a.md", data)


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", codecs.BOM_UTF8, "\u3000\n".encode()])
def test_a_file_without_text_is_a_problem(data: bytes) -> None:
    with pytest.raises(DocumentError, match=r"^a\.md: is empty; "):
        decode("a.md", data)
