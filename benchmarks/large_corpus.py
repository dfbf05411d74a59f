"""A corpus of any size for benchmarks: judged data sets, the history of documentation, and filler.

First come the data sets whole, then every chunk that the git bundles ever held, each once. What
is still missing is made of the sentences of those chunks, drawn at random: real words as often
as they really occur, in chunks of real length, that say nothing.
"""

import random
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llmwiki.config import IngestSettings
from llmwiki.errors import DocumentError
from llmwiki.evaluation.corpus import as_markdown, document_path
from llmwiki.evaluation.dataset import Dataset
from llmwiki.ingest.preparation import PreparedDocument, prepare
from llmwiki.store.chunks import ChunkValues
from llmwiki.text.sentences import split_sentences

LARGEST_REPEATED = 100_000
"""Bytes. A larger file counts in one version alone: release notes change with every release."""

_FILLER_PARAGRAPHS = 8
_FILLER_SENTENCES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeCorpus:
    """Documents ready to be stored, and how many of their chunks are of which kind."""

    documents: tuple[PreparedDocument, ...]
    judged: int
    history: int
    filler: int


def gather_corpus(
    datasets: Sequence[Dataset], bundles: Sequence[Path], size: int, folder: Path
) -> LargeCorpus:
    """Return a corpus of so many chunks, all data sets in it; bundles are cloned into the folder.

    A document of a data set has the path ``NAME/`` and what ``document_path`` makes of its id.
    """
    seen: set[str] = set()
    judged = [document for dataset in datasets for document in _judged(dataset)]
    counts = [_register(judged, seen)]
    history = _distinct(
        (document for bundle in bundles for document in _history(bundle, folder)), seen, size
    )
    counts.append(len(seen) - counts[0])
    filler = _distinct(_filler([*judged, *history]), seen, size)
    counts.append(len(seen) - sum(counts))
    return LargeCorpus(
        documents=(*judged, *history, *filler),
        judged=counts[0],
        history=counts[1],
        filler=counts[2],
    )


def chunks_of(document: PreparedDocument) -> Iterator[ChunkValues]:
    """Yield the chunks of a document in reading order."""
    for section in document.sections:
        yield from section.chunks


def _judged(dataset: Dataset) -> Iterator[PreparedDocument]:
    for document in dataset.documents:
        path = f"{dataset.name}/{document_path(document.id)}"
        yield prepare(path, as_markdown(document).encode(), IngestSettings())


def _register(documents: Iterable[PreparedDocument], seen: set[str]) -> int:
    for document in documents:
        seen.update(str(chunk.embedding_hash) for chunk in chunks_of(document))
    return len(seen)


def _distinct(
    documents: Iterable[PreparedDocument], seen: set[str], size: int
) -> list[PreparedDocument]:
    """Return the documents with the chunks that are new, until there are so many in all."""
    chosen: list[PreparedDocument] = []
    for document in documents:
        if len(seen) >= size:
            break
        sections = []
        for section in document.sections:
            new = [each for each in section.chunks if each.embedding_hash not in seen]
            new = list({each.embedding_hash: each for each in new}.values())[: size - len(seen)]
            seen.update(str(chunk.embedding_hash) for chunk in new)
            if new:
                sections.append(replace(section, chunks=tuple(new)))
        if sections:
            chosen.append(replace(document, sections=tuple(sections)))
    return chosen


def _history(bundle: Path, folder: Path) -> Iterator[PreparedDocument]:
    """Yield every version of every Markdown file, the latest first."""
    clone = folder / bundle.stem
    subprocess.run(["git", "clone", "-q", "--bare", str(bundle), str(clone)], check=True)
    git = ["git", "-C", str(clone)]
    listed = subprocess.run(
        [*git, "rev-list", "--objects", "--all"], check=True, capture_output=True, text=True
    ).stdout
    names = (line.partition(" ") for line in listed.splitlines())
    large: set[str] = set()
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        for blob, _, path in names:
            if not path.endswith((".md", ".mdx")):
                continue
            data = _read(reader, blob)
            if len(data) > LARGEST_REPEATED:
                if path in large:
                    continue
                large.add(path)
            try:
                yield prepare(f"{bundle.stem}/{blob}/{path}", data, IngestSettings())
            except DocumentError:
                continue


def _read(reader: "subprocess.Popen[bytes]", blob: str) -> bytes:
    if reader.stdin is None or reader.stdout is None:
        raise ValueError("the reader has no pipes")
    reader.stdin.write(f"{blob}\n".encode())
    reader.stdin.flush()
    size = int(reader.stdout.readline().split()[-1])
    return reader.stdout.read(size + 1)[:size]


def _filler(documents: Sequence[PreparedDocument]) -> Iterator[PreparedDocument]:
    source = random.Random(0)  # noqa: S311 - the same corpus each time
    chunks = [chunk for document in documents for chunk in chunks_of(document)]
    sentences = [
        " ".join(sentence.split())
        for chunk in chunks
        if "```" not in chunk.text
        for sentence in split_sentences(chunk.text)
    ]
    titles = [chunk.breadcrumb[-1] for chunk in chunks if chunk.breadcrumb]
    number = 0
    while True:
        paragraphs = [
            " ".join(source.choices(sentences, k=_FILLER_SENTENCES))
            for _ in range(_FILLER_PARAGRAPHS)
        ]
        body = "\n\n".join([f"# {source.choice(titles)}", *paragraphs])
        number += 1
        yield prepare(f"filler/{number}.md", body.encode(), IngestSettings())
