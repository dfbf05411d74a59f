import pytest

from llmwiki.errors import DocumentError
from llmwiki.parsing import parsers
from llmwiki.parsing.formats import FORMATS
from llmwiki.parsing.parsers import parse


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.md", b"# Title\n\nText.\n"),
        ("a.MARKDOWN", b"# Title\n\nText.\n"),
        ("a.mdx", b"# Title\n\nText.\n"),
        ("a.Rst", b"Title\n=====\n\nText.\n"),
        ("a.txt", b"Title\n=====\n\nText.\n"),
        ("a.html", b"<h1>Title</h1><p>Text.</p>"),
        ("a.HTM", b"<h1>Title</h1><p>Text.</p>"),
    ],
)
def test_the_ending_chooses_the_parser(path: str, data: bytes) -> None:
    document = parse(path, data)
    assert document.title == "Title"
    assert [block.text for section in document.sections for block in section.blocks] == ["Text."]


def test_pdf_is_not_decoded_as_text() -> None:
    with pytest.raises(DocumentError, match="PDF"):
        parse("a.pdf", b"\0\xff")


def test_an_unknown_ending_is_a_problem() -> None:
    with pytest.raises(DocumentError, match="is of no known format"):
        parse("a.docx", b"x")


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending != ".pdf"])
def test_every_text_format_is_decoded_first(ending: str) -> None:
    with pytest.raises(DocumentError, match="byte offset 0"):
        parse(f"a{ending}", b"\xe9")


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError("deep"), KeyError("k")])
def test_a_crash_of_a_parser_is_a_problem_of_that_file(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: str) -> None:
        raise error

    monkeypatch.setattr(parsers, "parse_html", crash)
    with pytest.raises(DocumentError, match=r"^a\.html: cannot be parsed as HTML") as caught:
        parse("a.html", b"<p>x")
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt()])
def test_what_is_no_fault_of_the_file_goes_through(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: str) -> None:
        raise error

    monkeypatch.setattr(parsers, "parse_html", crash)
    with pytest.raises(type(error)):
        parse("a.html", b"<p>x")


def test_nesting_too_deep_for_a_parser_is_a_problem_of_that_file() -> None:
    lines = "\n\n".join("  " * depth + "- x" for depth in range(1000))
    with pytest.raises(DocumentError, match="cannot be parsed as reStructuredText"):
        parse("a.rst", lines.encode())
