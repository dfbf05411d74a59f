"""Writes, purely, the table of contents as Markdown from the topics and their folders."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from llmwiki.overview.topics import folder_title


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A topic as the contents list it, in reading order."""

    slug: str
    title: str
    folder: str


def write_contents(entries: Iterable[Entry]) -> str:
    """Return one line a topic, under a heading for each folder that has any."""
    lines: list[str] = []
    folder = None
    for entry in entries:
        if entry.folder != folder:
            folder = entry.folder
            if folder:
                depth = min(len(PurePosixPath(folder).parts) + 1, 6)
                lines += ["", f"{'#' * depth} {folder_title(folder)}", ""]
        lines.append(f"- [[{entry.slug}|{escape_link_title(entry.title)}]]")
    return "\n".join(lines).strip() + "\n"


def summarise_contents(name: str, entries: Iterable[Entry]) -> str:
    """Return the overview's summary: how much there is and where it begins."""
    listed = list(entries)
    folders = list(dict.fromkeys(entry.folder.split("/")[0] for entry in listed if entry.folder))
    areas = ", ".join(folder_title(folder) for folder in folders)
    summary = f"{name}: {len(listed)} topics"
    return f"{summary} about {areas}." if areas else f"{summary}."


def escape_link_title(title: str) -> str:
    """Return the title without what would end a wikilink early."""
    return title.replace("|", "/").replace("]]", "] ]").replace("[[", "[ [")
