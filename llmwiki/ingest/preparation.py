"""Turns one file into what shall be stored of it: purely, without the database."""

import hashlib
import json
from dataclasses import dataclass

from llmwiki.config import IngestSettings
from llmwiki.errors import DocumentError
from llmwiki.ingest.changes import SectionValues
from llmwiki.ingest.chunked import ChunkedSection
from llmwiki.ingest.chunking import chunk_document
from llmwiki.ingest.metadata import determine_metadata
from llmwiki.parsing.parsed import PARSER_VERSION, ParsedDocument
from llmwiki.parsing.parsers import parse
from llmwiki.store.chunks import ChunkValues
from llmwiki.store.documents import DocumentValues
from llmwiki.store.embeddings import embedding_text
from llmwiki.text.hashing import NORMALISER_VERSION, content_hash
from llmwiki.text.identifiers import IDENTIFIERS_VERSION, find_identifiers


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document ready to be stored, with the texts that its chunks are embedded from."""

    values: DocumentValues
    sections: tuple[SectionValues, ...]

    def texts_to_embed(self) -> dict[str, str]:
        """Return the text to embed by embedding hash."""
        return {
            chunk.embedding_hash: chunk.search_text
            for section in self.sections
            for chunk in section.chunks
            if chunk.embedding_hash and chunk.search_text
        }


def fingerprint(path: str, data: bytes, settings: IngestSettings) -> str:
    """Return a hash of all that a document's rows follow from: an equal one needs no work."""
    metadata = determine_metadata(path, {}, settings.rules)
    versions = (PARSER_VERSION, NORMALISER_VERSION, IDENTIFIERS_VERSION)
    recipe = (*versions, str(settings.chunk_tokens), repr(metadata))
    return content_hash(hashlib.sha256(data).hexdigest(), *recipe)


def prepare(path: str, data: bytes, settings: IngestSettings) -> PreparedDocument:
    """Parse and chunk a file.

    Raises DocumentError when the file cannot be read as what its name says, or when what it
    holds cannot be stored: one file must not end the run of the others.
    """
    try:
        return _prepare(path, data, settings)
    except (DocumentError, MemoryError):
        raise
    except Exception as error:
        raise DocumentError(
            path,
            f"holds what cannot be stored ({type(error).__name__}: {error})",
            "repair or remove the file, and report it if it is valid",
        ) from error


def _prepare(path: str, data: bytes, settings: IngestSettings) -> PreparedDocument:
    parsed = parse(path, data)
    metadata = determine_metadata(path, parsed.metadata, settings.rules)
    values = DocumentValues(
        path=path,
        title=parsed.title,
        fingerprint=fingerprint(path, data, settings),
        byte_size=len(data),
        attributes=json.loads(json.dumps(parsed.metadata)),
        evidence_family=metadata.evidence_family,
        authority_tier=metadata.authority_tier,
        version=metadata.version,
    )
    chunked = chunk_document(parsed, target_tokens=settings.chunk_tokens)
    return PreparedDocument(values=values, sections=_number(parsed, chunked))


def _number(
    parsed: ParsedDocument, chunked: tuple[ChunkedSection, ...]
) -> tuple[SectionValues, ...]:
    position = 0
    sections = []
    for section in chunked:
        breadcrumb = breadcrumb_of(parsed.title, section.path)
        parent = ChunkValues(
            position=position,
            breadcrumb=breadcrumb,
            text=section.text,
            content_hash=section.content_hash,
            token_count=section.token_count,
        )
        chunks = []
        for chunk in section.chunks:
            position += 1
            to_embed = embedding_text(breadcrumb, chunk.text)
            chunks.append(
                ChunkValues(
                    position=position,
                    breadcrumb=breadcrumb,
                    text=chunk.text,
                    content_hash=chunk.content_hash,
                    token_count=chunk.token_count,
                    embedding_hash=content_hash(to_embed),
                    identifiers=find_identifiers(chunk.text),
                    search_text=to_embed,
                )
            )
        position += 1
        sections.append(SectionValues(values=parent, chunks=tuple(chunks)))
    return tuple(sections)


def breadcrumb_of(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings above a chunk, the document's title first and once."""
    return path if path[:1] == (title,) else (title, *path)
