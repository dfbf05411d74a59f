"""Hashes that tell whether a page must be written anew."""

from collections.abc import Iterable

from llmwiki.domain import GeneratorIdentity, SourceChunk
from llmwiki.text.hashing import NORMALISER_VERSION, bag_hash, content_hash

RENDERING_VERSION = "1"


def recipe_hash(generator: GeneratorIdentity) -> str:
    """Return the hash of how pages are made: generator, its prompt and schema, our rendering.

    The embedder is left out: vectors are kept by the hash of their text and `reembed` renews
    them all, so another embedder costs no page a model call.
    """
    return content_hash(
        generator.kind, generator.name, generator.version, NORMALISER_VERSION, RENDERING_VERSION
    )


def source_hash(chunks: Iterable[SourceChunk]) -> str:
    """Return the hash of what a page is made from: its chunks' contents, in any order.

    Repetition counts, as it does for the sweep: the two must agree, or a page would be marked
    every night and passed over by every drain.
    """
    return bag_hash(chunk.content_hash for chunk in chunks)
