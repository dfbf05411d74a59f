import pytest

from llmwiki.compiler.rendering import render_body
from llmwiki.domain import PageSection, StatementKind
from tests.compiler.samples import chunk, statement

SOURCES = [
    chunk(7, "The relay has 3 ports.", breadcrumb=("Relay", "Ports")),
    chunk(9, "```sh\nrelay\n```"),
]


def body(*sections: PageSection) -> str:
    return render_body(statement("The relay has 3 ports.", 7), sections, SOURCES)


def test_footnotes_are_numbered_by_first_use_and_name_file_and_headings() -> None:
    text = body(PageSection(heading="Use", statements=(statement("It relays.", 9, 7),)))
    assert "It relays.[^2][^1]" in text
    assert "[^1]: `relay.md` › Relay › Ports" in text  # noqa: RUF001
    assert "[^2]: `relay.md` › Relay" in text  # noqa: RUF001


def test_a_mark_stands_below_a_fence_and_not_in_it() -> None:
    code = statement("```sh\nrelay\n```", 9, kind="code")
    assert "```sh\nrelay\n```\n\n[^2]" in body(PageSection(heading="", statements=(code,)))


def test_brackets_of_the_sources_do_not_become_links_outside_code() -> None:
    text = body(
        PageSection(heading="", statements=(statement("Set [[tool.x]] and `[[y]]` to $&.", 7),))
    )
    assert r"Set \[\[tool.x]] and `[[y]]` to $&." in text


def test_the_summary_is_not_repeated_right_below_itself() -> None:
    echo = PageSection(
        heading="", statements=(statement("The relay has 3 ports.", 7), statement("It relays.", 7))
    )
    assert body(echo).count("The relay has 3 ports.") == 1
    later = PageSection(
        heading="", statements=(statement("It relays.", 7), statement("The relay has 3 ports.", 7))
    )
    assert body(later).count("The relay has 3 ports.") == 2


def rendered(text: str, kind: StatementKind = "prose") -> str:
    section = PageSection(heading="", statements=(statement(text, 7, kind=kind),))
    return body(section).split("\n\n")[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[^1]: it relays", r"\[^1]: it relays[^1]"),
        ("It relays[^2] `x[^2]`", r"It relays\[^2] `x[^2]`[^1]"),
        (r"It \[^2] \\[^2]", r"It \[^2] \\\[^2][^1]"),
        (r"A \`[[b]]\` c", r"A \`\[\[b]]\` c[^1]"),
        ("A `[[b]] `` c", r"A `\[\[b]] `` c[^1]"),
        (r"A \[[b]] [[[c]]]", r"A \[\[b]] \[\[\[c]]][^1]"),
        ("It relays\\", "It relays\\ [^1]"),
    ],
)
def test_prose_has_no_footnotes_and_links_of_its_own(text: str, expected: str) -> None:
    assert rendered(text) == expected


def test_cells_have_no_links_of_their_own() -> None:
    assert rendered("| `[[a]]` | [[b]] |\n|---|---|\n| `a | [[b]] | c` | x[^1] |", "table") == (
        "| `[[a]]` | \\[\\[b]] |\n|---|---|\n| `a | \\[\\[b]] | c` | x\\[^1] |"
    )
