"""The nights of the synthetic history, each with the pages that it must mark, and why."""

from pathlib import Path

from tests.replay.synthetic import (
    SyntheticNight,
    append,
    create,
    delete,
    move,
    page,
    paragraph,
    replace,
    rewrite,
    section,
    swap,
    together,
)

CONTENT, ADDED, REMOVED, NEW = (
    frozenset({reason}) for reason in ("content", "added", "removed", "never-compiled")
)

_LOG = page("Changes", *(section(f"Day {number}", f"day{number}") for number in range(5)))


def _first_word(name: str) -> str:
    return paragraph(name).split(" ", 1)[0]


def _reversed_paragraphs(text: str) -> str:
    """Put the paragraphs of the one section with two into the other order."""
    first, second = paragraph("o1"), paragraph("o2")
    return text.replace(first, "\0").replace(second, first).replace("\0", second)


def _reflowed(text: str) -> str:
    """Break the lines of the paragraphs elsewhere."""
    return text.replace(". ", ".\n")


def _with_front_matter(text: str) -> str:
    return f"---\nsidebar_position: 7\ndescription: new\n---\n\n{text}"


def _touch(folder: Path) -> None:
    for location in folder.rglob("*.md"):
        location.touch()


NIGHTS = (
    SyntheticNight(
        name="a typo",
        edit=replace("guide/install.md", _first_word("d1"), _first_word("d1")[::-1]),
        marks={"guide/install": CONTENT},
    ),
    SyntheticNight(
        name="an entry at the end of a log",
        edit=append("guide/log.md", section("Day 4", "day4")),
        marks={"guide/log": ADDED},
    ),
    SyntheticNight(
        name="a section at the top of a document of many topics",
        edit=replace("guide/big.md", "## Part 0", section("Before", "before") + "\n## Part 0"),
        # It makes a topic of its own; the one that stood first keeps its address, and is fresh.
        marks={"guide/big-2": NEW},
    ),
    SyntheticNight(
        name="a section in the middle of a document of many topics",
        edit=replace("guide/big.md", "## Part 6", section("Within", "within") + "\n## Part 6"),
        marks={"guide/big/within": NEW},
    ),
    SyntheticNight(name="a file moved", edit=move("old/one.md", "new/one.md"), marks={}),
    SyntheticNight(
        name="a file moved and edited",
        edit=together(
            move("old/two.md", "new/second.md"),
            replace("new/second.md", _first_word("t3"), _first_word("t3")[::-1]),
        ),
        marks={"old/two": CONTENT},
    ),
    SyntheticNight(
        name="a file split",
        edit=together(
            replace("guide/usage.md", section("Tune", "u3", "u4", "u5"), ""),
            create("guide/tuning.md", page("Tuning", section("Tune", "u3", "u4", "u5"))),
        ),
        marks={"guide/usage": REMOVED, "guide/tuning": NEW},
    ),
    SyntheticNight(
        name="two files merged",
        edit=together(
            append("guide/install.md", section("Tune", "u3", "u4", "u5")),
            delete("guide/tuning.md"),
        ),
        marks={"guide/install": ADDED},
        retired=frozenset({"guide/tuning"}),
    ),
    SyntheticNight(
        name="a file deleted",
        edit=delete("guide/log.md"),
        marks={},
        retired=frozenset({"guide/log"}),
    ),
    SyntheticNight(
        name="what was deleted is there again", edit=create("guide/log.md", _LOG), marks={}
    ),
    SyntheticNight(
        name="a document added among those that share a topic",
        edit=create("notes/ape.md", page("Ape", paragraph("ape"))),
        marks={"notes/ant": ADDED},
    ),
    SyntheticNight(
        name="two files of one topic swap their names",
        edit=swap("notes/bee.md", "notes/cat.md"),
        marks={},
    ),
    SyntheticNight(name="a folder renamed", edit=move("guide", "manual"), marks={}),
    SyntheticNight(
        name="a document retitled",
        edit=replace("new/one.md", "# One", "# The first"),
        marks={"old/one": CONTENT},
    ),
    SyntheticNight(
        name="paragraphs in another order",
        edit=rewrite("new/one.md", _reversed_paragraphs),
        marks={},
    ),
    SyntheticNight(name="a reflow", edit=rewrite("manual/big.md", _reflowed), marks={}),
    SyntheticNight(
        name="other line ends",
        edit=rewrite("manual/usage.md", lambda text: text.replace("\n", "\r\n")),
        marks={},
    ),
    SyntheticNight(
        name="front matter alone", edit=rewrite("new/one.md", _with_front_matter), marks={}
    ),
    SyntheticNight(name="nothing but the times of the files", edit=_touch, marks={}),
    SyntheticNight(
        name="a heading renamed",
        edit=replace("new/second.md", "## First", "## Foremost"),
        marks={"old/two": CONTENT},
    ),
)

SINGLE_NIGHTS = (
    SyntheticNight(
        name="three files pass their names on",
        edit=together(
            delete("old/two.md"),
            move("old/one.md", "old/two.md"),
            move("old/alike.md", "old/one.md"),
        ),
        marks={},
        retired=frozenset({"old/two"}),
    ),
    SyntheticNight(
        name="a file moved, and another in its place",
        edit=together(
            move("old/one.md", "new/one.md"),
            create("old/one.md", page("Elsewhere", section("First", "e1", "e2", "e3"))),
        ),
        marks={"old/one-2": NEW},
    ),
    SyntheticNight(
        name="two files swap their names",
        edit=swap("guide/install.md", "guide/log.md"),
        marks={},
    ),
    SyntheticNight(
        name="two files with the same headings swap their names",
        edit=swap("notes/gnu.md", "notes/hen.md"),
        marks={},
    ),
    SyntheticNight(
        name="a paragraph that is there already",
        edit=append("old/two.md", paragraph("t4")),
        marks={"old/two": ADDED},
    ),
    SyntheticNight(
        name="a document without headings retitled",
        edit=replace("notes/hog.md", "title: Hog", "title: Boar"),
        # Its title is the heading above its text on the page that it shares.
        marks={"notes/gnu": CONTENT},
    ),
)
"""Each for itself, on the first tree."""
