import time

import pytest

from llmwiki.text.code_spans import code_contents, find_code_spans, without_code_spans


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("none", []),
        ("a `b` c `d`", ["`b`", "`d`"]),
        ("a ``b ` c`` d", ["``b ` c``"]),
        ("`` a ` b", []),
        (r"\`a\` b", []),
        (r"\``a` b", ["`a`"]),
        (r"\\`a` b", ["`a`"]),
        (r"`a\` b", [r"`a\`"]),
        ("`a\nb` c", ["`a\nb`"]),
        ("`a\n\nb` c", []),
        ("- `a\n- b` c `d", []),
        ("- `a`\n- `b`", ["`a`", "`b`"]),
        ("<https://x.example/`> a ` b", []),
        ("a `b\n2. c` <b> `d", []),
    ],
)
def test_code_spans_are_those_of_commonmark(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in find_code_spans(text)] == code


def test_a_text_is_read_with_and_without_its_code() -> None:
    assert without_code_spans("a `b` c") == "a   c"
    assert code_contents("a ``b ` c`` `d`") == ["b ` c", "d"]


@pytest.mark.parametrize("piece", ["`", "` ``", "`\n", "\\`", "`\n- ", "`\n\n", "<a:", "` `` ``` "])
def test_hostile_backticks_take_linear_time(piece: str) -> None:
    started = time.process_time()
    spans = list(find_code_spans(piece * 50_000))
    assert all(start < end for start, end in spans)
    assert time.process_time() - started < 15
