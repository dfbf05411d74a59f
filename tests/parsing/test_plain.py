from llmwiki.parsing.parsed import Block
from llmwiki.parsing.plain import parse_plain


def test_blank_lines_part_paragraphs_and_line_breaks_fold() -> None:
    document = parse_plain("notes/readme.txt", "One\ntwo.\n\n  \nThree.\r\n")
    assert document.title == "readme"
    (section,) = document.sections
    assert section.path == ()
    assert [block.text for block in section.blocks] == ["One two.", "Three."]


def test_underlined_lines_are_headings() -> None:
    text = "Guide\n=====\nIntro.\n\nSetup\n-----\n\nText.\n\nMore\n~~~~\nDeep.\n\nEnd\n---\nLast."
    document = parse_plain("a.txt", text)
    assert document.title == "Guide"
    assert [(section.path, section.blocks[0].text) for section in document.sections] == [
        (("Guide",), "Intro."),
        (("Guide", "Setup"), "Text."),
        (("Guide", "Setup", "More"), "Deep."),
        (("Guide", "End"), "Last."),
    ]


def test_a_heading_in_wide_characters_is_underlined_to_its_width() -> None:
    document = parse_plain("a.txt", "安装指南\n========\n正文。")
    assert document.sections[0].path == ("安装指南",)


def test_a_rule_much_longer_than_its_line_is_no_underline() -> None:
    document = parse_plain("a.txt", f"Note\n{'-' * 60}\ntext")
    assert [section.path for section in document.sections] == [()]


def test_lists_keep_one_line_an_item_and_code_its_lines() -> None:
    document = parse_plain("a.txt", "- one\n  more\n- two\n\n    a = 1\n      b = 2\n")
    assert document.sections[0].blocks == (
        Block(kind="list", text="- one more\n- two"),
        Block(kind="code", text="```\n    a = 1\n      b = 2\n```"),
    )


def test_an_empty_file_has_no_sections() -> None:
    assert parse_plain("a.txt", "\ufeff\n \n").sections == ()
