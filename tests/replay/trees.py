"""A folder of documentation as the oracle reads it: topics, known by nothing but their texts."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from llmwiki.config import IngestSettings, OverviewSettings
from llmwiki.domain import ChunkId
from llmwiki.errors import DocumentError
from llmwiki.ingest.preparation import PreparedDocument, prepare
from llmwiki.overview.outline import DocumentOutline, SectionOutline
from llmwiki.overview.topics import propose_topics

ENDINGS = frozenset({".md", ".mdx", ".rst", ".txt", ".html"})

Saying = tuple[str, str]
"""The heading above a chunk and the chunk's text, with white space folded."""


@dataclass(frozen=True, kw_only=True)
class TopicText:
    """What a topic says: its title and its chunks, in whatever order."""

    place: str
    """The key that the tree alone would give it."""
    title: str
    folder: str
    sayings: tuple[Saying, ...]

    @cached_property
    def bag(self) -> Counter[Saying]:
        """The chunks with how often each occurs."""
        return Counter(self.sayings)

    @cached_property
    def content(self) -> tuple[str, tuple[Saying, ...]]:
        """The title and the chunks in an order of their own: equal where two say the same."""
        return self.title, tuple(sorted(self.sayings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A state of the folder: its topics in reading order, and every chunk of it."""

    topics: tuple[TopicText, ...]
    chunks: Counter[tuple[str, Saying]]
    """With the path of its file."""
    documents: Mapping[str, PreparedDocument]
    """By path."""


EMPTY_TREE = Tree(topics=(), chunks=Counter(), documents={})


def fold(text: str) -> str:
    """Return the text in the form in which a reflow or another Unicode form is no change.

    In code the indentation says something, so there each line keeps the width of its own.
    """
    words: list[str] = []
    in_code = False
    for line in unicodedata.normalize("NFC", text).splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif in_code and line.strip():
            words.append(f"{len(line) - len(line.lstrip())}:")
        words += line.split()
    return " ".join(words)


def read_tree(
    folder: Path,
    ingest: IngestSettings,
    overview: OverviewSettings,
    *,
    before: Mapping[str, PreparedDocument],
) -> Tree:
    """Parse and chunk every document of the folder, and group the chunks into topics.

    A file that cannot be read today says what it said ``before``: nothing shall be lost by it.
    """
    texts: dict[ChunkId, Saying] = {}
    chunks: Counter[tuple[str, Saying]] = Counter()
    outlines = []
    documents = dict(_documents(folder, ingest, before))
    for document in documents.values():
        outline, sayings = _outline(document, first=len(texts))
        outlines.append(outline)
        texts |= sayings
        chunks.update((document.values.path, saying) for saying in sayings.values())
    topics = tuple(
        TopicText(
            place=topic.key,
            title=topic.title,
            folder=topic.folder,
            sayings=tuple(texts[number] for number in topic.chunk_ids),
        )
        for topic in propose_topics(outlines, overview)
    )
    return Tree(topics=topics, chunks=chunks, documents=documents)


def _documents(
    folder: Path, settings: IngestSettings, before: Mapping[str, PreparedDocument]
) -> Iterator[tuple[str, PreparedDocument]]:
    for location in sorted(folder.rglob("*")):
        relative = location.relative_to(folder)
        hidden = any(part.startswith(".") for part in relative.parts)
        if location.suffix in ENDINGS and location.is_file() and not hidden:
            path, data = relative.as_posix(), location.read_bytes()
            digest = hashlib.sha256(data).digest()
            try:
                yield path, _prepared(path, digest, settings, _Bytes(data))
            except DocumentError:
                if path in before:
                    yield path, before[path]


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Bytes that the cache does not compare: their digest stands beside them."""

    data: bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=4096)
def _prepared(
    path: str, digest: bytes, settings: IngestSettings, content: _Bytes
) -> PreparedDocument:
    """Parse one file; a pure function, so that equal bytes need not be parsed night by night."""
    del digest
    return prepare(path, content.data, settings)


def _outline(
    document: PreparedDocument, *, first: int
) -> tuple[DocumentOutline, dict[ChunkId, Saying]]:
    """Number the chunks from ``first`` on, as the overview wants numbers to group."""
    sayings: dict[ChunkId, Saying] = {}
    sections = []
    for section in document.sections:
        numbers = [ChunkId(first + len(sayings) + place) for place in range(len(section.chunks))]
        heading = section.values.breadcrumb[-1]
        for number, chunk in zip(numbers, section.chunks, strict=True):
            sayings[number] = (fold(heading), fold(chunk.text))
        sections.append(
            SectionOutline(
                breadcrumb=section.values.breadcrumb,
                chunk_ids=tuple(numbers),
                content_hashes=tuple(chunk.content_hash for chunk in section.chunks),
                token_counts=tuple(chunk.token_count for chunk in section.chunks),
            )
        )
    outline = DocumentOutline(
        path=document.values.path, title=document.values.title, sections=tuple(sections)
    )
    return outline, sayings
