"""Prints Markdown: rendered on a terminal, as it is into a pipe."""

import re
from collections.abc import Iterable

from rich.markdown import Markdown

from llmwiki.cli.output import console, is_terminal, print_line, printable

_NOTES = re.compile(r"\n\n(?=\[\^1\]: )")


def split_notes(body: str) -> tuple[str, str]:
    """Return the text of a page and its footnotes, which a terminal cannot link."""
    parts = _NOTES.split(body.rstrip())
    return ("\n\n".join(parts[:-1]), parts[-1]) if len(parts) > 1 else (body, "")


def print_document(parts: Iterable[str]) -> None:
    """Print the parts of a document in order; footnotes are expected at the end of a part."""
    if not is_terminal():
        print_line("\n\n".join(part.rstrip() for part in parts))
        return
    screen = console()
    for part in parts:
        text, notes = split_notes(part)
        screen.print(Markdown(printable(text)))
        if notes:
            screen.print()
            screen.print(printable(notes), style="dim", soft_wrap=True)
