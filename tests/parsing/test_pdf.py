import io
import logging
from typing import Any

import pytest

from llmwiki.errors import DocumentError
from llmwiki.parsing.parsed import ParsedDocument
from llmwiki.parsing.pdf import parser as pdf
from llmwiki.parsing.pdf.parser import parse_pdf

pypdf = pytest.importorskip("pypdf")
generic = pytest.importorskip("pypdf.generic")


def make_pdf(
    *pages: list[str],
    outline: tuple[tuple[str, int, int], ...] = (),
    title: str = "",
    key: str = "",
) -> bytes:
    """Return a PDF of these lines; the outline is given as title, page and level."""
    writer = pypdf.PdfWriter()
    for lines in pages:
        _add_page(writer, lines)
    parents: list[object] = []
    for name, page, level in outline:
        parents = parents[: level - 1]
        parent = parents[-1] if parents else None
        parents.append(writer.add_outline_item(title=name, page_number=page, parent=parent))
    if title:
        writer.add_metadata({"/Title": title})
    if key:
        writer.encrypt(user_password=key, algorithm="RC4-128")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _add_page(writer: Any, lines: list[str]) -> None:  # noqa: ANN401  # pypdf is optional
    name, dictionary = generic.NameObject, generic.DictionaryObject
    page = writer.add_blank_page(width=595, height=842)
    font = dictionary(
        {
            name("/Type"): name("/Font"),
            name("/Subtype"): name("/Type1"),
            name("/BaseFont"): name("/Courier"),
            name("/Encoding"): name("/WinAnsiEncoding"),
        }
    )
    page[name("/Resources")] = dictionary({name("/Font"): dictionary({name("/F"): font})})
    escaped = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
    shown = "".join(f"({line}) Tj T*\n" for line in escaped)
    content = generic.DecodedStreamObject()
    content.set_data(f"BT /F 10 Tf 12 TL 40 800 Td\n{shown}ET".encode("cp1252"))
    page[name("/Contents")] = writer._add_object(content)


def shape(document: ParsedDocument) -> list[tuple[tuple[str, ...], list[str]]]:
    return [
        (section.path, [block.text for block in section.blocks]) for section in document.sections
    ]


def test_without_an_outline_each_page_is_a_section() -> None:
    document = parse_pdf("a/report.pdf", make_pdf(["First text."], [], ["Third text."]))
    assert document.title == "report"
    assert shape(document) == [(("Page 1",), ["First text."]), (("Page 3",), ["Third text."])]


def test_the_title_comes_from_the_properties() -> None:
    assert parse_pdf("report.pdf", make_pdf(["Text."], title="Annual  Report")).title == (
        "Annual Report"
    )


def test_an_outline_gives_the_sections() -> None:
    data = make_pdf(
        ["Cover text.", "1 Install", "Use pip.", "1.1 Linux", "Use apt."],
        ["More of Linux.", "Chapter 2: Use", "Run it."],
        ["Not where a line says it."],
        outline=(("Install", 0, 1), ("Linux", 0, 2), ("2. Use", 1, 1), ("Appendix", 2, 1)),
    )
    assert shape(parse_pdf("a.pdf", data)) == [
        ((), ["Cover text."]),
        (("Install",), ["Use pip."]),
        (("Install", "Linux"), ["Use apt.", "More of Linux."]),
        (("2. Use",), ["Run it."]),
        (("Appendix",), ["Not where a line says it."]),
    ]


def test_lines_become_paragraphs_and_broken_words_whole() -> None:
    lines = [
        "The first paragraph of this page ends a line with a hyphen-",
        "ated word, and it has a well-known compound, which is writ-",
        "ten once more at the end of the line, where it is a well-",
        "known one.",
        "The second paragraph begins here and it is also quite long.",
        "- an item of a list",
        "- another item",
    ]
    whole = (
        "The first paragraph of this page ends a line with a hyphenated word, and it has "
        "a well-known compound, which is written once more at the end of the line,"
    )
    assert shape(parse_pdf("a.pdf", make_pdf(lines))) == [
        (
            ("Page 1",),
            [
                f"{whole} where it is a well-known one.",
                "The second paragraph begins here and it is also quite long.",
                "- an item of a list",
                "- another item",
            ],
        )
    ]


def test_what_is_printed_on_every_page_goes() -> None:
    pages = [["The Manual", f"What page {word} says.", str(n)] for n, word in enumerate("abcd")]
    texts = [text for _, blocks in shape(parse_pdf("a.pdf", make_pdf(*pages))) for text in blocks]
    assert texts == [f"What page {word} says." for word in "abcd"]


def test_a_scan_is_a_problem() -> None:
    with pytest.raises(DocumentError, match=r"has no text layer; .*ocrmypdf"):
        parse_pdf("a.pdf", make_pdf([], []))


def test_an_encrypted_file_is_a_problem() -> None:
    with pytest.raises(DocumentError, match=r"is encrypted; .*qpdf"):
        parse_pdf("a.pdf", make_pdf(["Secret."], key="sesame"))


@pytest.mark.parametrize("cut", [0, 1, 20, 200, 500])
def test_a_damaged_file_is_a_problem(cut: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(DocumentError):
        parse_pdf("a.pdf", make_pdf(["Some text."])[:cut])


def test_arbitrary_bytes_are_a_problem() -> None:
    with pytest.raises(DocumentError, match="is a damaged PDF"):
        parse_pdf("a.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 20)


def test_a_missing_library_is_a_problem_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "find_spec", lambda _: None)
    with pytest.raises(DocumentError, match=r"pip install llmwiki-compiler\[pdf\]"):
        parse_pdf("a.pdf", b"")
