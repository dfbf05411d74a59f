from hypothesis import given
from hypothesis import strategies as st

from llmwiki.compiler.drafts.chunk_blocks import split_blocks, split_items, without_marker

CHUNK = """First line
of a paragraph.

- one
  - two
3. three

~~~text
- not an item

``` not the end
~~~

| a | b |
| --- | --- |
| `x` | 1 |"""


def test_a_chunk_falls_into_its_blocks() -> None:
    blocks = split_blocks(CHUNK)
    assert [block.kind for block in blocks] == ["prose", "list", "code", "table"]
    assert "\n\n".join(block.text for block in blocks) == CHUNK


def test_a_code_block_keeps_its_blank_lines_and_inner_fences() -> None:
    text = "````md\n```py\n\nx = 1\n```\n\n````\n\nAfter."
    assert [block.text for block in split_blocks(text)] == [
        text.split("\n\nAfter", maxsplit=1)[0],
        "After.",
    ]


def test_a_fence_that_never_ends_is_no_code() -> None:
    assert [block.kind for block in split_blocks("```py\nx = 1\n\ny = 2")] == ["prose"]


def test_rows_of_a_table_that_was_cut_are_a_table() -> None:
    assert [block.kind for block in split_blocks("| `x` | 1 |\n| `y` | 2 |")] == ["table"]


def test_items_have_their_marker_number_and_indent() -> None:
    items = split_items("1. one\n  - two\n    goes on\n2) three")
    assert [(item.text, item.number, item.indent) for item in items] == [
        ("1. one", 1, 0),
        ("- two goes on", None, 2),
        ("2) three", 2, 0),
    ]
    assert [item.content for item in items] == ["one", "two goes on", "three"]


def test_text_without_a_marker_stays_as_it_is() -> None:
    assert without_marker("1.5 times -x") == "1.5 times -x"


@given(st.text(alphabet="ab|`~-*1. \n"))
def test_nothing_but_blank_lines_is_lost(text: str) -> None:
    kept = "\n".join(block.text for block in split_blocks(text))
    assert [line for line in kept.split("\n") if line.strip()] == [
        line for line in text.split("\n") if line.strip()
    ]
