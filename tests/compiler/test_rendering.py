from llmwiki.compiler.rendering import render_body
from llmwiki.domain import PageSection
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
