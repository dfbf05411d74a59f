import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.errors import DocumentError
from llmwiki.ingest.chunking import chunk_document
from llmwiki.parsing.markdown.parser import parse_markdown
from llmwiki.parsing.parsed import Block, ParsedDocument


def _blocks(text: str) -> list[Block]:
    return [block for section in parse_markdown("a.md", text).sections for block in section.blocks]


def _texts(text: str) -> list[str]:
    return [block.text for block in _blocks(text)]


def _chunks(document: ParsedDocument) -> str:
    sections = chunk_document(document, target_tokens=200)
    return "\n".join(chunk.text for section in sections for chunk in section.chunks)


def test_headings_of_both_forms_make_nested_paths() -> None:
    text = "Before.\n\nGuide\n=====\nA\n\nSetup\n-----\nB\n\n#### Deep\nC\n\n## More ##\n"
    sections = parse_markdown("a.md", text).sections
    assert [section.path for section in sections] == [
        (),
        ("Guide",),
        ("Guide", "Setup"),
        ("Guide", "Setup", "Deep"),
        ("Guide", "More"),
    ]
    assert sections[-1].blocks == ()


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("Backups<br/>of the <b>vault</b>", "Backups of the vault"),
        ("The `<br>` element and List<T>", "The `<br>` element and List<T>"),
        ("Say <YOUR_NAME>", "Say <YOUR_NAME>"),
    ],
)
def test_a_stated_title_loses_its_tags_and_nothing_else(stated: str, shown: str) -> None:
    assert parse_markdown("a.md", f"---\ntitle: '{stated}'\n---\n\nText.").title == shown


def test_headings_may_repeat() -> None:
    sections = parse_markdown("a.md", "# A\n## Use\nx\n## Use\ny").sections
    assert [section.path for section in sections] == [("A",), ("A", "Use"), ("A", "Use")]


def test_headings_inside_of_quotes_and_lists_are_text() -> None:
    document = parse_markdown("a.md", "# A\n\n> ## Quoted\n> x\n\n- # Item\n")
    assert [section.path for section in document.sections] == [("A",)]
    assert [block.text for block in document.sections[0].blocks] == ["Quoted", "x", "- Item"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Stated\n---\n# Top", "Stated"),
        ("---\ntitle: 2024\n---\n", "2024"),
        ("---\ntitle: ''\n---\n## First\n# Top", "Top"),
        ("## First\n# One\n# Two", "First"),
        ("Text only", "intro"),
    ],
)
def test_the_title_is_the_stated_one_else_the_only_top_heading_else_the_first_else_the_file_name(
    text: str, title: str
) -> None:
    assert parse_markdown("docs/intro.md", text).title == title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a* **b** __c__ ~~d~~ `e*`", "a b c d `e*`"),
        ("`` a`b `` and `` `c ``", "``a`b`` and `` `c ``"),
        ("[text](https://x.io/a_b)", "text (https://x.io/a_b)"),
        ("[https://x.io](https://x.io/)", "https://x.io"),
        ("<https://x.io/ä>", "https://x.io/ä"),
        ("[text](../guide.md#a) [mail](mailto:a@b.c)", "text mail"),
        ("[text][ref]\n\n[ref]: https://x.io/中文 'T'", "text (https://x.io/中文)"),
        ("![The *flow*](a.png)", "The flow"),
        ("[![badge](b.svg)](https://x.io)", "badge (https://x.io)"),
        ("a &amp; b &lt;c&gt; &copy;", "a & b <c> ©"),
        ("a\nb  \nc\\\nd", "a b c d"),
        ("costs $$5 and $& and [[Page]] and \\*not\\*", "costs $$5 and $& and [[Page]] and *not*"),
        ("中文段落。 İstanbul doğa \u0131l\u0131k مرحبا بالعالم שלום",
         "中文段落。 İstanbul doğa \u0131l\u0131k مرحبا بالعالم שלום"),
        ("Use <YOUR_KEY> & Map<String, X>", "Use <YOUR_KEY> & Map<String, X>"),
    ],
)  # fmt: skip
def test_inline_markup_becomes_readable_text(text: str, expected: str) -> None:
    assert _texts(text) == [expected]


def test_lists_have_one_line_an_item() -> None:
    text = "3. one\n   more\n\n   second paragraph\n4. two\n   - [x] in\n     * deep\n"
    assert _blocks(text) == [
        Block(
            kind="list",
            text="3. one more second paragraph\n4. two\n  - [x] in\n    - deep",
        )
    ]


def test_code_inside_of_a_list_is_a_block_of_its_own() -> None:
    text = "1. Run:\n\n   ```sh\n   a  b\n     c\n   ```\n\n   Then:\n\n2. End"
    assert _blocks(text) == [
        Block(kind="list", text="1. Run:"),
        Block(kind="code", text="```sh\na  b\n  c\n```"),
        Block(kind="paragraph", text="Then:"),
        Block(kind="list", text="2. End"),
    ]


def test_code_keeps_its_fence_and_indented_code_gains_one() -> None:
    assert _texts("~~~~ py\n```\n~~~~\n\ntext\n\n    a = 1\n    ```\n") == [
        "~~~~py\n```\n~~~~",
        "text",
        "````\na = 1\n```\n````",
    ]


def test_tables_become_rows_with_their_header() -> None:
    (block,) = _blocks("a | *b*\n:- | -\n`x\\|y` |\n1 | 2 | 3\n")
    assert block.kind == "table"
    assert block.header == "| a | b |\n| --- | --- |"
    assert block.text == f"{block.header}\n| `x\\|y` |  |\n| 1 | 2 |"


def test_footnotes_stay_in_their_section_and_their_numbers_go() -> None:
    document = parse_markdown("a.md", "# A\nText[^1].\n\n[^1]: The *note*.\n\n# B\nEnd.")
    assert [block.text for block in document.sections[0].blocks] == ["Text.", "The note."]


def test_definitions_go_on_in_the_line_of_their_term() -> None:
    assert _blocks("Term\n: Says *this*.\n: And that.\n\nOther\n: X") == [
        Block(kind="list", text="- Term Says this. And that.\n- Other X")
    ]


def test_front_matter_is_metadata_and_not_text() -> None:
    document = parse_markdown(
        "a.md", "\ufeff---\r\ntitle: T\r\ndate: 2024-01-02\r\n---\r\nText\r\n"
    )
    assert document.metadata == {"title": "T", "date": "2024-01-02"}
    assert document.sections[0].blocks == (Block(kind="paragraph", text="Text"),)


def test_broken_front_matter_is_reported_with_the_path() -> None:
    with pytest.raises(DocumentError, match=r"docs/a\.md: line 4: .*; correct it"):
        parse_markdown("docs/a.md", "---\nok: 1\nbad: [\n---\nText")


def test_only_mdx_has_expressions() -> None:
    assert _texts("Set {name} now.") == ["Set {name} now."]
    document = parse_markdown("a.mdx", "Set {name} now.")
    assert document.sections[0].blocks[0].text == "Set now."


def test_ten_thousand_headings_are_ten_thousand_sections() -> None:
    text = "".join(
        f"{'#' * (1 + number % 6)} Heading {number}\n\ntext\n\n" for number in range(10000)
    )
    assert len(parse_markdown("a.md", text).sections) == 10_000


def test_ten_thousand_headings_alone_are_listed_and_none_is_lost() -> None:
    document = parse_markdown("a.md", "".join(f"## h{number}\n" for number in range(10_000)))
    (section,) = chunk_document(document, target_tokens=200)
    listed = "\n".join(chunk.text for chunk in section.chunks)
    assert listed.split("\n") == [f"h{number}" for number in range(10_000)]


@pytest.mark.parametrize("unit", ["word ", "a", "中"])
def test_a_paragraph_of_a_megabyte_is_read_in_seconds(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.monotonic()
    document = parse_markdown("a.md", text)
    assert time.monotonic() - started < 60
    assert document.sections[0].blocks[0].text == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{'  ' * depth}- w{depth}" for depth in range(400)),
        "\n".join(f"{'>' * depth} w{depth}" for depth in range(400)),
        ">" * 3000 + " w0",
        "- " * 3000 + "w0",
        "> - " * 1500 + "w0",
        "1. " * 1500 + "w0",
        "\n".join(
            f"{'    ' * depth}!!! note\n{'    ' * depth}    w{depth}" for depth in range(200)
        ),
    ],
)
def test_deep_nesting_loses_no_word(text: str) -> None:
    assert sorted(re.findall(r"w\d+", _chunks(parse_markdown("a.md", text)))) == sorted(
        re.findall(r"w\d+", text)
    )


def test_images_nested_without_end_are_read_or_refused_but_never_crash() -> None:
    text = "![" * 3000 + "x" + "](y)" * 3000
    try:
        parse_markdown("a.md", text)
    except DocumentError as error:
        assert "nested" in error.problem  # noqa: PT017


_MARKS = st.sampled_from(
    [
        *[
            "# ",
            "> ",
            "- ",
            "1. ",
            "```",
            "`",
            "**",
            "_",
            "[",
            "](",
            ")",
            "<div>",
            "</div>",
            "<T ",
            "{{< tab >}}",
            "{{% x ",
            "%}}",
            "{",
            "}",
        ],
        *[
            ":::note",
            ":::",
            "!!! tip",
            "    ",
            "\t",
            "<!--",
            "-->",
            "{/*",
            "*/}",
            "---",
            "===",
            "&amp;",
            "\\",
            "$",
            "[^1]:",
            ": ",
            "///",
        ],
        *("\n", "\n\n", "|", "word", "中文", "import x from 'y'"),
    ]
)


@settings(deadline=None)
@given(st.lists(_MARKS, max_size=40).map("".join))
def test_any_markup_can_be_read_and_gives_the_same_result_twice(text: str) -> None:
    for path in ("a.md", "a.mdx"):
        try:
            document = parse_markdown(path, text)
        except DocumentError:
            continue
        assert document == parse_markdown(path, text)
        chunk_document(document, target_tokens=20)


_WORDS = st.lists(st.from_regex(r"[a-zçğ中]{1,8}", fullmatch=True), min_size=1, max_size=30)


@settings(deadline=None)
@given(st.lists(_WORDS, min_size=1, max_size=8))
def test_plain_paragraphs_survive_word_for_word(paragraphs: list[list[str]]) -> None:
    text = "\n\n".join(" ".join(words) for words in paragraphs)
    assert _texts(text) == [" ".join(words) for words in paragraphs]
