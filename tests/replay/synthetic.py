"""A small generated tree of documentation, and edits of the kinds that real nights bring."""

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from llmwiki.config import IngestSettings, OverviewSettings

INGEST = IngestSettings(chunk_tokens=60)
OVERVIEW = OverviewSettings(topic_tokens=500, small_document_tokens=100)

_SYLLABLES = ("an", "bas", "can", "dra", "fea", "gar", "ham", "jac", "ket", "lad", "mir", "or")
_WORDS = tuple(first + last for first in _SYLLABLES for last in ("ter", "ket", "del"))

Edit = Callable[[Path], None]
Marks = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticNight:
    """An edit, and by slug the reasons for which its night must mark pages."""

    name: str
    edit: Edit
    marks: Marks
    retired: frozenset[str] = frozenset()


def paragraph(name: str) -> str:
    """Return about fifty words, the same for the same name: one chunk."""
    chance = random.Random(name)  # noqa: S311 - text, no secret
    words = [chance.choice(_WORDS) for _ in range(50)]
    sentences = (" ".join(words[at : at + 10]).capitalize() + "." for at in range(0, 50, 10))
    return " ".join(sentences)


def section(heading: str, *names: str) -> str:
    """Return a section of second level with a paragraph for each name."""
    return "\n\n".join((f"## {heading}", *map(paragraph, names))) + "\n"


def page(title: str, *sections: str, front_matter: str = "") -> str:
    """Return a document with its title as its only top heading."""
    head = f"---\n{front_matter}\n---\n\n" if front_matter else ""
    return head + f"# {title}\n\n" + "\n".join(sections)


def write_tree(folder: Path) -> None:
    """Write the tree of the first night."""
    for path, content in _FIRST_TREE.items():
        write(folder, path, content)


def restore_tree(folder: Path) -> None:
    """Put the folder into the state of the first night."""
    shutil.rmtree(folder, ignore_errors=True)
    write_tree(folder)


def write(folder: Path, path: str, content: str) -> None:
    """Write one document."""
    location = folder / path
    location.parent.mkdir(parents=True, exist_ok=True)
    location.write_bytes(content.encode())


def read(folder: Path, path: str) -> str:
    """Read one document as it lies there."""
    return (folder / path).read_bytes().decode()


_ANIMALS = ("ant", "bee", "cat", "dog", "elk", "fox")

_FIRST_TREE = {
    "guide/install.md": page("Install", section("Download", "d1", "d2"), section("Set up", "s1")),
    "guide/usage.md": page(
        "Usage", section("Start", "u1"), section("Stop", "u2"), section("Tune", "u3", "u4", "u5")
    ),
    "guide/big.md": page(
        "Reference", *(section(f"Part {n}", *(f"p{n}{m}" for m in range(4))) for n in range(9))
    ),
    "guide/log.md": page("Changes", *(section(f"Day {n}", f"day{n}") for n in range(4))),
    "old/one.md": page("One", section("First", "o1", "o2"), section("Second", "o3")),
    "old/alike.md": page("One", section("First", "a1", "a2"), section("Second", "a3")),
    "old/two.md": page("Two", section("First", "t1", "t2"), section("Second", "t3", "t4")),
    **{f"notes/{animal}.md": page("Animal", paragraph(animal)) for animal in ("gnu", "hen")},
    "notes/hog.md": f"---\ntitle: Hog\n---\n\n{paragraph('hog')}\n",
    "notes/jay.md": page("Jay", paragraph("jay")),
    **{f"notes/{animal}.md": page(animal.capitalize(), paragraph(animal)) for animal in _ANIMALS},
}


def replace(path: str, old: str, new: str) -> Edit:
    """Return an edit that replaces a text that must be there."""

    def edit(folder: Path) -> None:
        content = read(folder, path)
        assert old in content, f"{path} does not hold {old!r}"
        write(folder, path, content.replace(old, new, 1))

    return edit


def append(path: str, addition: str) -> Edit:
    """Return an edit that writes at the end of a document."""
    return lambda folder: write(folder, path, read(folder, path) + "\n" + addition)


def create(path: str, content: str) -> Edit:
    """Return an edit that adds a document."""
    return lambda folder: write(folder, path, content)


def delete(path: str) -> Edit:
    """Return an edit that removes a document."""
    return lambda folder: (folder / path).unlink()


def move(path: str, to: str) -> Edit:
    """Return an edit that moves a file or a folder."""

    def edit(folder: Path) -> None:
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / path, folder / to)

    return edit


def swap(left: str, right: str) -> Edit:
    """Return an edit that gives each of two documents the other's name."""

    def edit(folder: Path) -> None:
        contents = read(folder, left), read(folder, right)
        write(folder, right, contents[0])
        write(folder, left, contents[1])

    return edit


def rewrite(path: str, change: Callable[[str], str]) -> Edit:
    """Return an edit that passes a whole document through a function."""
    return lambda folder: write(folder, path, change(read(folder, path)))


def together(*edits: Edit) -> Edit:
    """Return the edits one after the other as one."""

    def edit(folder: Path) -> None:
        for each in edits:
            each(folder)

    return edit
