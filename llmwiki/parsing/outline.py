"""Collects headings and blocks into the sections of a document."""

from pathlib import PurePosixPath

from llmwiki.parsing.parsed import Block, Section


class Outline:
    """Takes headings and blocks in reading order and gives each section its path."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._blocks: list[Block] = []
        self._sections: list[Section] = []
        self._headings: list[tuple[int, str]] = []

    def add_heading(self, level: int, text: str) -> None:
        """Begin the section of a heading; a heading without text begins none."""
        if not text:
            return
        self._close_section()
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, text))
        self._headings.append((level, text))

    def add_block(self, block: Block) -> None:
        """Add a block to the section of the last heading."""
        if block.text.strip():
            self._blocks.append(block)

    def sections(self) -> tuple[Section, ...]:
        """End the document and return its sections, those without text as well.

        Only the one before the first heading is left out when it is empty.
        """
        self._close_section()
        return tuple(self._sections)

    def title(self, stated: object, path: str) -> str:
        """Return the title: the stated one, the only top heading, the first, or the file's."""
        if isinstance(stated, str | int | float) and str(stated).strip():
            return " ".join(str(stated).split())
        tops = [text for level, text in self._headings if level == 1]
        if len(tops) == 1:
            return tops[0]
        return self._headings[0][1] if self._headings else PurePosixPath(path).stem

    def _close_section(self) -> None:
        if self._open or self._blocks:
            path = tuple(text for _, text in self._open)
            self._sections.append(Section(path=path, blocks=tuple(self._blocks)))
            self._blocks = []
