import json

import pytest

from llmwiki.errors import DocumentError
from llmwiki.parsing.front_matter import split_front_matter


def test_yaml_front_matter_becomes_metadata_and_leaves_the_text() -> None:
    metadata, body = split_front_matter("a.md", "---\ntitle: Install\ntags: [a, b]\n---\nText\n")
    assert metadata == {"title": "Install", "tags": ["a", "b"]}
    assert body == "Text\n"


def test_toml_front_matter_becomes_metadata() -> None:
    text = '+++\ntitle = "Install"\ndate = 2024-05-01T10:00:00Z\n+++\nText'
    metadata, body = split_front_matter("a.md", text)
    assert metadata == {"title": "Install", "date": "2024-05-01T10:00:00+00:00"}
    assert body == "Text"


@pytest.mark.parametrize("marker", ["---", "+++"])
def test_empty_front_matter_is_no_metadata(marker: str) -> None:
    assert split_front_matter("a.md", f"{marker}\n{marker}\nText") == ({}, "Text")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Text",
        "---",
        "---\nnever closed: yes\n",
        "---\n\nBetween two: breaks: x\n\n---\n",
        "-- x",
    ],
)
def test_text_without_front_matter_is_left_as_it_is(text: str) -> None:
    assert split_front_matter("a.md", text) == ({}, text)


def test_dates_become_iso_strings_at_every_depth() -> None:
    text = "---\nwhen: 2024-05-01\nmany: [{at: 2024-05-01 10:00:00}]\n2024-05-02: key\n---\n"
    metadata, _ = split_front_matter("a.md", text)
    assert metadata["when"] == "2024-05-01"
    assert metadata["many"] == [{"at": "2024-05-01T10:00:00"}]
    assert metadata["2024-05-02"] == "key"


def test_every_yaml_value_becomes_one_that_postgresql_stores() -> None:
    text = (
        '---\na: .nan\nb: -.inf\nc: "x\\0y"\nd: "\\ud800"\ne: !!set {x, y}\n'
        "f: !!binary aGk=\ng: 1.5\nh: true\ni: null\n---\n"
    )
    metadata, _ = split_front_matter("a.md", text)
    written = json.dumps(metadata, allow_nan=False, ensure_ascii=False)
    written.encode()
    assert metadata["c"] == "xy"
    assert metadata["e"] == ["x", "y"]
    assert (metadata["g"], metadata["h"], metadata["i"]) == (1.5, True, None)


def test_a_title_with_a_colon_that_nobody_quoted_is_understood() -> None:
    metadata, _ = split_front_matter("a.md", "---\nposition: 1\ntitle: Logs: what's new\n---\n")
    assert metadata == {"position": 1, "title": "Logs: what's new"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntitle: x\nlist: [a\n---\n", 4),
        ("---\ntitle: x\n\tb: y\n---\n", 3),
        ("---\na: x\nb: 2024-13-45\n---\n", 2),
        ("---\na: 'open\n---\n", 3),
        ("---\nok: x\nbad: \x07\n---\n", 3),
        ("---\njust a sentence\n---\n", 2),
        ("---\n- a\n- b\n---\n", 2),
        ("---\nx: !!python/object:os.system {}\n---\n", 2),
        ('+++\na = 1\nb = = "x"\n+++\n', 3),
    ],
)
def test_broken_front_matter_names_the_path_the_line_and_the_remedy(text: str, line: int) -> None:
    with pytest.raises(DocumentError) as caught:
        split_front_matter("docs/a.md", text)
    assert caught.value.path == "docs/a.md"
    assert f"line {line}:" in str(caught.value)
    assert "correct it" in caught.value.remedy


def _bomb(levels: int, reference: str) -> str:
    lines = ["---", "a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {reference.format(n - 1)}" for n in range(1, levels)]
    return "\n".join([*lines, "---", ""])


@pytest.mark.parametrize("levels", [10, 40])
@pytest.mark.parametrize("reference", ["[*a{0}, *a{0}, *a{0}]", "{{<<: [*a{0}, *a{0}, *a{0}]}}"])
def test_a_bomb_of_aliases_is_refused(levels: int, reference: str) -> None:
    text = _bomb(levels, reference)
    if "<<" in reference and levels == 10:
        assert split_front_matter("a.md", text)[0]["a9"] == {"x": 1, "y": 2}
        return
    with pytest.raises(DocumentError):
        split_front_matter("a.md", text)


@pytest.mark.parametrize(
    "text",
    [
        "---\na: &a [*a]\n---\n",
        f"---\na: {'[' * 5000}{']' * 5000}\n---\n",
        f"+++\na = {'[' * 5000}{']' * 5000}\n+++\n",
        f"---\na: {'[' * 50}{']' * 50}\n---\n",
    ],
)
def test_endless_nesting_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        split_front_matter("a.md", text)
