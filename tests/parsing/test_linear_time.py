"""Parsing takes time in proportion to the text, whatever the text says."""

import time
from collections.abc import Callable

import pytest

from llmwiki.errors import DocumentError
from llmwiki.parsing.parsed import ParsedDocument
from llmwiki.parsing.parsers import parse
from llmwiki.parsing.pdf.text import Bookmark, hyphenated_words, paragraphs, split_at_bookmarks

_SMALL, _LARGE = 10_000, 40_000
_FOUR_TIMES_AND_NOISE = 12
_MEASURABLE_SECONDS = 2.0

_Case = tuple[str, str, str, str]
"""Ending of the file, and the text: its beginning, what fills it, its end."""

_CASES: dict[str, _Case] = {
    "blank lines below a line of hyphens": ("md", "---\nfirst\n---\n", "\n", "last"),
    "blank lines in place of front matter": ("md", "---\n", "\n", ""),
    "blanks in place of front matter": ("md", "---\n", " ", "last"),
    "colons in a broken title": ("md", '---\nq: "a\nk: a', ": a", "#\n---\nlast"),
    "colons in a title": ("md", "---\na: b: c\nk: a", ": a", "#\n---\nlast"),
    "blanks in YAML": ("md", "---\na: b", " ", "c: d\n---\nlast"),
    "dotted key of TOML": ("md", "+++\n", "a.", "b=1\n+++\nlast"),
    "blanks in a line": ("md", "first {x}", " ", "last"),
    "blanks in the info of a fence": ("md", "```py", " ", "first\nlast\n```\n"),
    "options of a fence": ("md", "```py {", "hl_lines", "\nlast\n```\n"),
    "options of a fence, open": ("md", "```py", " hl_lines={", "\nlast\n```\n"),
    "braces of a fence": ("md", "```py", " {hl_lines", "\nlast\n```\n"),
    "class of a fence": ("md", "```{", "a", "}!\nlast\n```\n"),
    "blanks behind a highlighting": ("md", "```\n// highlight-end", " ", "first\nlast\n```\n"),
    "ticks in a fence": ("md", "```\nfirst ", "`", "\nlast\n```\n"),
    "blanks of an import": ("mdx", "import first", " ", "last\n"),
    "words of an import": ("mdx", "import first", " from", "\nlast"),
    "end of an import": ("mdx", "import 'first'", " ", "last"),
    "blanks of a role": ("md", "{ref}`first", " ", "last`"),
    "heading in HTML": ("md", "<h1>first", " a", " last</h1>"),
    "headings in HTML, open": ("md", "", "\n<h1 ", "\nlast"),
    "addresses in a link": ("md", "<a", " href='http://x'", ">last"),
    "addresses in a link, open": ("md", "<a", " href='http://x'", "\n\nlast"),
    "attributes of a tag": ("md", "<Foo ", "x", ">last</Foo>"),
    "braces of an attribute, open": ("md", "", "<Foo x={", "last"),
    "braces of attributes in each other": ("md", "<Foo x={" * 9, "{}", "last"),
    "bound of a type parameter": ("md", "<T extends", " x", "> last"),
    "tags in a line": ("md", "", "<div>", "last"),
    "tags in a deep quote": ("md", ">>>>>>>>>> " * 300, "<div>", "last"),
    "blanks of a shortcode": ("md", "{{< first", " ", "last"),
    "blanks of a shortcode, open": ("md", "first {{< a", " ", ""),
    "slashes of a shortcode": ("md", "{{< first", " / ", "last"),
    "argument of a shortcode": ("md", "{{< note ", "x", " >}}\nlast\n{{< /note >}}"),
    "escaped quotes of a shortcode": ("md", "{{< note ", '\\"', " last"),
    "shortcodes with an escaped quote": ("md", "", '{{< a \\"', " last"),
    "code of Hugo, open": ("md", "", "{{< highlight a\n", "last"),
    "blanks of a definition": ("md", "{{ a }}\n[b]:", " ", "last"),
    "addresses with a value": ("md", "", "[a](b{{", " last"),
    "addresses, open": ("md", "{{ a }} ", "](", " last"),
    "blanks of a template's value": ("md", "{% a %} {{ first", " ", "last!"),
    "lists of attributes": ("md", "first ", "{.a x=", " last"),
    "attributes without end": ("md", "first {: ", "a ", "last!"),
    "blanks of an admonition": ("md", "!!! note a", " ", "x\n\n    last\n"),
    "quotes of an admonition": ("md", "!!! note ", '"', "last\n"),
    "blanks of a block with slashes": ("md", "/// note | first", " ", "last|\n"),
    "blanks of a block with colons": ("md", ":::note first", " ", "}last{\n"),
    "braces of a block with colons": ("md", ":::note first", "{", " last\n"),
    "blocks without end": ("md", "", ":::tabs\n", "last\n:::\n"),
    "heading in an admonition": ("md", "!!! note\n    # first", " ", "last\n"),
    "brackets": ("md", "first ", "[", " last"),
    "images": ("md", "first ", "![", " last"),
    "blanks of a reference": ("rst", ":ref:`first", " ", "last <`"),
    "blanks of a target": ("rst", "`first", " ", "<a>`_ last"),
    "blank lines of a rejected line": ("rst", "first\n\n.. a::\n\n ", "\n", "last"),
    "lines of a signature": ("rst", ".. py:function:: first(\n", "   a,\n", "   last"),
    "substitutions": ("rst", "first ", "|a| ", "last"),
    "ticks in code": ("txt", "    first ", "`", "\n    last"),
}  # fmt: skip


def _parse(case: _Case, size: int) -> ParsedDocument | None:
    ending, beginning, filling, end = case
    text = beginning + filling * (size // len(filling)) + end
    try:
        return parse(f"a.{ending}", text.encode())
    except DocumentError:
        return None


def _seconds(run: Callable[[int], object], size: int) -> float:
    def once() -> float:
        start = time.process_time()
        run(size)
        return time.process_time() - start

    first = once()
    return first if first < _MEASURABLE_SECONDS else min(first, once(), once())


def _assert_linear(run: Callable[[int], object]) -> None:
    large = _seconds(run, _LARGE)
    if large > _MEASURABLE_SECONDS:
        assert large < _FOUR_TIMES_AND_NOISE * _seconds(run, _SMALL)


@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES)
def test_no_text_takes_more_than_linear_time(case: _Case) -> None:
    _assert_linear(lambda size: _parse(case, size))


@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES)
def test_the_words_of_such_a_text_survive(case: _Case) -> None:
    parsed = _parse(case, _SMALL)
    if parsed is None:
        return
    written = repr(parsed)
    said = [word for word in ("first", "last") if word in case[1] + case[3]]
    missing = [word for word in said if word not in written]
    assert not missing, written[:300]


@pytest.mark.parametrize("filling", ["x", "1", "1.", "-", "x-", "\u00e9"])
def test_no_line_of_a_page_takes_more_than_linear_time(filling: str) -> None:
    def read(size: int) -> None:
        line = filling * (size // len(filling))
        lines = [line, f"{line}-", "rest"]
        list(split_at_bookmarks([lines], [Bookmark(level=1, title=line[1:], page=0)]))
        list(paragraphs(lines, hyphenated_words([lines])))

    _assert_linear(read)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"---\na: {'b ' * 40_000}\n---\nc", "line 2: the front matter is longer than 64 kB"),
        (f"+++\na = 1\n{'b.' * 40}c = 1\n+++\nd", "line 3: .* a key of too many parts"),
    ],
)
def test_front_matter_is_bounded(text: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        parse("a.md", text.encode())


def test_brackets_without_end_stay_as_they_are() -> None:
    parsed = parse("a.md", f"a {'[' * 300}b".encode())
    assert parsed.sections[0].blocks[0].text == f"a {'[' * 300}b"
