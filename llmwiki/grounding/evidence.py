"""What the chunks that a statement cites say, in the forms that the gate compares."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from llmwiki.domain import ChunkId, SourceChunk, TopicSources
from llmwiki.text.code_spans import code_contents, without_code_spans
from llmwiki.text.hashing import normalise

_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})")
_PROMPT = re.compile(r"\s*(?:\$|>>>|\.\.\.|#|>|PS>|%)\s+")
_ASCII_LETTERS = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]+")
_FULL_STOPS = frozenset("\u2026\u3002\uff01\uff1f\u300d\u300f\uff09\uff1a\uff1b\uff0c\u3001")
"""Punctuation that needs no blank after it."""
_BEFORE = frozenset(" ([{\"'`*_>|\u201c\u201e\u00ab\u300c\u300e\uff08") | _FULL_STOPS
_AFTER = frozenset(")]}\"'`*_|.,;:!?\u201d\u2019\u201c\u00bb")
_SHORTEST_WORD = 4
_STEM = 5
"""Characters that an inflected word keeps: configure, configured, configuration."""
_COMMON = frozenset(
    word
    for words in (
        "this that these those with without within from have having been being were will would",
        "could should must might when where while which what whose your their they them then than",
        "there here also only each every such some more most other another into onto over under",
        "about after before because between both does doing done just like make makes made many",
        "much very well used uses using allows allow same since still through until",
    )
    for word in words.split()
)
_UNSPACED = ("CJK", "KANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


class ChunkFacts:
    """One chunk, its headings included; each form is made once and only when it is needed."""

    def __init__(self, chunk: SourceChunk) -> None:
        self.text = "\n".join((*chunk.breadcrumb, chunk.text))
        self._body = chunk.text

    @cached_property
    def normal(self) -> str:
        """The text with white space folded."""
        return normalise(self.text)

    @cached_property
    def folded(self) -> str:
        """The normal form without regard to case."""
        return self.normal.casefold()

    @cached_property
    def live(self) -> str:
        """The folded form without code: where markup would be at work."""
        return normalise(without_code_spans("\n".join(_prose_lines(self.text)))).casefold()

    @cached_property
    def body_lines(self) -> frozenset[str]:
        """The lines of the text without white space."""
        return frozenset(map(squeeze, self._body.split("\n")))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The content words."""
        return content_stems(self.text)

    @cached_property
    def lines(self) -> frozenset[str]:
        """The lines and code spans without white space; a line also without its shell prompt."""
        lines = self._body.split("\n")
        spans = code_contents(self._body)
        bare = (_PROMPT.sub("", line, count=1) for line in lines)
        return frozenset(squeeze(line) for line in (*lines, *spans, *bare))

    @cached_property
    def table_rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows of each table of the chunk, squeezed, its header first."""
        tables: list[list[str]] = [[]]
        for line in self._body.split("\n"):
            if line.lstrip().startswith("|"):
                tables[-1].append(squeeze_row(line))
            elif tables[-1]:
                tables.append([])
        return tuple(tuple(filter(None, table)) for table in tables if table)

    @cached_property
    def scripts(self) -> Counter[str]:
        """The letters of the prose by script."""
        return count_scripts(self.text)


class Evidence:
    """The chunks of one topic."""

    def __init__(self, sources: TopicSources) -> None:
        self._facts = {chunk.id: ChunkFacts(chunk) for chunk in sources.chunks}

    def knows(self, chunk_ids: Iterable[ChunkId]) -> bool:
        """Tell whether all of them are chunks of this topic."""
        return all(chunk_id in self._facts for chunk_id in chunk_ids)

    def of(self, chunk_ids: Iterable[ChunkId]) -> tuple[ChunkFacts, ...]:
        """Return the facts of these chunks."""
        return tuple(self._facts[chunk_id] for chunk_id in chunk_ids)

    def all(self) -> tuple[ChunkFacts, ...]:
        """Return the facts of all chunks."""
        return tuple(self._facts.values())


def occurrences(text: str, cited: Sequence[ChunkFacts]) -> int:
    """Return how often the chunks have the text word for word, up to white space.

    It must begin and end where words do: "on port 80" does not stand in "on port 8080".
    """
    wanted = normalise(text)
    return sum(_count_whole(wanted, chunk.normal) for chunk in cited) if wanted else 0


def is_mentioned(text: str, cited: Sequence[ChunkFacts]) -> bool:
    """Tell whether a chunk has the text, without regard to case and to where words begin."""
    wanted = text.casefold()
    return any(wanted in chunk.folded for chunk in cited)


def _count_whole(wanted: str, text: str) -> int:
    count, start = 0, text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        count += _begins(text[start - 1 : start]) and _ends(wanted[-1], text[end : end + 2])
        start = text.find(wanted, end)
    return count


def _begins(before: str) -> bool:
    return not before or before in _BEFORE


def _ends(last: str, after: str) -> bool:
    if not after or after[0] == " " or last in _FULL_STOPS or after[0] in _FULL_STOPS:
        return True
    return after[0] in _AFTER and (len(after) == 1 or after[1] in _AFTER or after[1] == " ")


def content_stems(text: str) -> frozenset[str]:
    """Return the beginnings of the content words; pairs of characters where none are spaced."""
    stems: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if not word.isascii() and script_of(word[0]) in _UNSPACED:
            stems.update(word[start : start + 2] for start in range(len(word) - 1))
        elif len(word) >= _SHORTEST_WORD and word not in _COMMON:
            stems.add(word[:_STEM])
    return frozenset(stems)


def count_scripts(text: str) -> Counter[str]:
    """Count the letters of the text by script, code left out."""
    prose = without_code_spans("\n".join(_prose_lines(text)))
    counts = Counter(script_of(letter) for letter in prose if letter > "\x7f" and letter.isalpha())
    counts["LATIN"] += sum(map(len, _ASCII_LETTERS.findall(prose)))
    return counts


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """Return the script of a letter, as LATIN, CYRILLIC, CJK or KANA."""
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[0], "UNKNOWN").split(maxsplit=1)
    return "KANA" if name[0] in {"HIRAGANA", "KATAKANA"} else name[0]


def is_fence(line: str) -> bool:
    """Tell whether a line opens or closes a fenced block."""
    return _FENCE_LINE.match(line) is not None


def squeeze(line: str) -> str:
    """Return a line without white space."""
    return "".join(line.split())


def squeeze_row(line: str) -> str:
    """Return a row of a table without white space and outer bars; empty for the rule."""
    row = squeeze(line).removeprefix("|").removesuffix("|")
    return row if row.strip("|:-") else ""


def _prose_lines(text: str) -> Iterable[str]:
    inside = False
    for line in text.split("\n"):
        if is_fence(line):
            inside = not inside
        elif not inside:
            yield line
