import string
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.ingest.chunked import ChunkedSection
from llmwiki.ingest.chunking import chunk_document
from llmwiki.parsing.markdown.parser import parse_markdown
from llmwiki.parsing.parsed import Block, BlockKind, ParsedDocument, Section
from llmwiki.text.hashing import chunk_hash
from llmwiki.text.tokens import count_tokens


def _document(*blocks: Block, path: tuple[str, ...] = ("Guide", "Setup")) -> ParsedDocument:
    return ParsedDocument(title="Guide", sections=(Section(path=path, blocks=blocks),))


def _paragraph(text: str) -> Block:
    return Block(kind="paragraph", text=text)


def _words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def _chunk(*blocks: Block, target: int) -> ChunkedSection:
    (section,) = chunk_document(_document(*blocks), target_tokens=target)
    return section


def _texts(*blocks: Block, target: int) -> list[str]:
    return [chunk.text for chunk in _chunk(*blocks, target=target).chunks]


def test_blocks_are_packed_in_order_up_to_the_target() -> None:
    blocks = [_paragraph(_words(4, word)) for word in ("a", "b", "c", "d", "e")]
    assert _texts(*blocks, target=10) == [
        "a a a a\n\nb b b b",
        "c c c c\n\nd d d d",
        "e e e e",
    ]


def test_hashes_cover_the_own_heading_and_the_text() -> None:
    section = _chunk(_paragraph("one two"), target=10)
    assert section.content_hash == chunk_hash("Setup", "one two")
    assert section.chunks[0].content_hash == chunk_hash("Setup", "one two")
    assert section.chunks[0].token_count == section.token_count == 2


def test_a_short_introduction_goes_with_what_it_introduces() -> None:
    filler, introduction = _paragraph(_words(8)), _paragraph("Run this:")
    code = Block(kind="code", text="```\na b c d\n```")
    assert _texts(filler, introduction, code, target=10) == [
        filler.text,
        f"{introduction.text}\n\n{code.text}",
    ]


def test_an_introduction_stays_where_what_follows_has_no_room_for_it() -> None:
    code = Block(kind="code", text=f"```\n{_words(13)}\n```")
    assert _texts(_paragraph("Run this:"), code, target=14) == ["Run this:", code.text]


def test_a_tiny_last_chunk_joins_the_one_before() -> None:
    assert _texts(_paragraph(_words(10)), _paragraph("end"), target=10) == [f"{_words(10)}\n\nend"]


def test_code_that_fits_is_whole_and_larger_code_is_cut_at_lines_with_its_fences() -> None:
    fitting = Block(kind="code", text="```py\n" + "\n".join(["a b c"] * 4) + "\n```")
    assert _texts(fitting, target=14) == [fitting.text]
    large = Block(kind="code", text="````py\n" + "\n".join(["a b c"] * 6) + "\n````")
    parts = _texts(large, target=14)
    assert len(parts) > 1
    assert all(part.startswith("````py\n") and part.endswith("\n````") for part in parts)
    lines = [line for part in parts for line in part.split("\n")[1:-1]]
    assert lines == ["a b c"] * 6


def test_a_large_table_is_cut_at_rows_and_repeats_its_header() -> None:
    header = "| a | b |\n| --- | --- |"
    rows = [f"| {number} | x |" for number in range(20)]
    table = Block(kind="table", text="\n".join([header, *rows]), header=header)
    parts = _texts(table, target=40)
    assert len(parts) > 1
    assert all(part.startswith(header) for part in parts)
    assert [row for part in parts for row in part.split("\n")[2:]] == rows


def test_a_header_that_would_crowd_out_the_rows_is_not_repeated() -> None:
    header = f"| {_words(30)} |\n| --- |"
    table = Block(kind="table", text=f"{header}\n| x |\n| y |", header=header)
    parts = _texts(table, target=10)
    assert " ".join(parts).count("---") == 1
    assert "| y |" in parts[-1]


def test_a_large_list_is_cut_at_items() -> None:
    items = [f"- item {number}" for number in range(20)]
    parts = _texts(Block(kind="list", text="\n".join(items)), target=10)
    assert [line for part in parts for line in part.split("\n")] == items


def test_a_large_paragraph_is_cut_at_sentence_ends() -> None:
    text = "One two three four. Five six (seven eight.) Nine ten eleven! Twelve?"
    assert _texts(_paragraph(text), target=8) == [
        "One two three four.",
        "Five six (seven eight.)",
        "Nine ten eleven! Twelve?",
    ]


def test_chinese_sentences_are_cut_where_they_end() -> None:
    parts = _texts(
        _paragraph("这是第一句话。这是第二句话\uff01这是第三句话\uff1f这是最后一句。"), target=9
    )
    assert parts == ["这是第一句话。", "这是第二句话\uff01", "这是第三句话\uff1f", "这是最后一句。"]


@pytest.mark.parametrize("character", ["a", "中", "é", "."])
def test_a_megabyte_without_a_space_is_cut_in_linear_time_and_nothing_is_lost(
    character: str,
) -> None:
    text = character * 1_000_000
    started = time.monotonic()
    parts = _texts(_paragraph(text), target=300)
    assert time.monotonic() - started < 60
    assert "".join(parts).replace("\n\n", "") == text
    assert all(count_tokens(part) <= 375 for part in parts)


def test_a_section_without_text_yields_no_chunk() -> None:
    empty, full = (
        Section(path=("A",), blocks=()),
        Section(path=("A", "B"), blocks=(_paragraph("x"),)),
    )
    document = ParsedDocument(title="A", sections=(empty, full))
    assert [section.path for section in chunk_document(document, target_tokens=10)] == [("A", "B")]


def test_a_document_of_headings_alone_lists_them() -> None:
    document = parse_markdown("a.md", "# Guide\n\n## One\n\n## Two\n")
    (section,) = chunk_document(document, target_tokens=100)
    assert section.path == ("Guide",)
    assert [chunk.text for chunk in section.chunks] == ["Guide\nOne\nTwo"]


def test_an_empty_document_yields_nothing() -> None:
    assert chunk_document(parse_markdown("a.md", "\n"), target_tokens=100) == ()


def test_a_target_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        chunk_document(_document(_paragraph("x")), target_tokens=0)


_WORD = st.text(string.ascii_lowercase, min_size=1, max_size=14)
_SENTENCE = st.lists(_WORD, min_size=1, max_size=12).map(lambda words: " ".join(words) + ".")
_PROSE = st.lists(_SENTENCE, min_size=1, max_size=6).map(" ".join)
_LINES = st.lists(_SENTENCE, min_size=1, max_size=8)


def _make_block(kind: BlockKind, prose: str, lines: list[str]) -> Block:
    match kind:
        case "paragraph":
            return _paragraph(prose)
        case "list":
            return Block(kind=kind, text="\n".join(f"- {line}" for line in lines))
        case "code":
            return Block(kind=kind, text="\n".join(["```", *lines, "```"]))
        case "table":
            header = "| head |\n| --- |"
            rows = [f"| {line} |" for line in lines]
            return Block(kind=kind, text="\n".join([header, *rows]), header=header)


_KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(("paragraph", "list", "code", "table"))
_BLOCKS = st.lists(st.builds(_make_block, _KINDS, _PROSE, _LINES), min_size=1, max_size=8)


@settings(deadline=None)
@given(_BLOCKS, st.integers(min_value=12, max_value=80))
def test_every_word_is_in_a_chunk_in_order_and_chunks_keep_their_size(
    blocks: list[Block], target: int
) -> None:
    section = _chunk(*blocks, target=target)

    def words(text: str) -> list[str]:
        marks = {"```", "|", "head", "---"}
        return [word for word in text.split() if word not in marks]

    found = [word for chunk in section.chunks for word in words(chunk.text)]
    assert found == words("\n".join(block.text for block in blocks))
    assert all(chunk.token_count <= target * 1.5 for chunk in section.chunks)
    assert all(count_tokens(each.text) == each.token_count for each in section.chunks)


@settings(deadline=None)
@given(_BLOCKS, st.integers(min_value=12, max_value=80), st.data())
def test_a_changed_letter_changes_one_chunk_and_moves_no_cut(
    blocks: list[Block], target: int, data: st.DataObject
) -> None:
    position = data.draw(st.integers(min_value=0, max_value=len(blocks) - 1))
    old = blocks[position]
    letters = [
        index
        for index, letter in enumerate(old.text)
        if index >= len(old.header) and letter.isalpha()
    ]
    index = data.draw(st.sampled_from(letters))
    text = old.text[:index] + "Z" + old.text[index + 1 :]
    changed = [*blocks]
    changed[position] = Block(kind=old.kind, text=text, header=old.header)
    before = [each.content_hash for each in _chunk(*blocks, target=target).chunks]
    after = [each.content_hash for each in _chunk(*changed, target=target).chunks]
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@settings(deadline=None)
@given(_BLOCKS, st.integers(min_value=1, max_value=11))
def test_tiny_targets_lose_nothing_either(blocks: list[Block], target: int) -> None:
    section = _chunk(*blocks, target=target)
    letters = "".join(block.text for block in blocks if block.kind == "paragraph").split()
    found = "".join("".join(chunk.text.split()) for chunk in section.chunks)
    remaining = iter(found)
    assert all(letter in remaining for word in letters for letter in word)


def test_chunks_of_a_section_follow_one_another_in_reading_order() -> None:
    blocks = [_paragraph(f"paragraph {number:04} text") for number in range(100)]
    texts = _texts(*blocks, target=20)
    assert all(one < other for one, other in pairwise(texts))
