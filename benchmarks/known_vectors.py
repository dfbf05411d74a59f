"""Embedders of a benchmark: those to choose from, and one that only looks vectors up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from llmwiki.domain import EmbedderIdentity
from llmwiki.ports import Embedder, Vectors
from llmwiki.providers.hashing_embedder import HashingEmbedder
from llmwiki.providers.minilm import open_minilm


class WordLlama:
    """A static embedder; a large corpus takes it a minute. `pip install wordllama`."""

    def __init__(self) -> None:
        package = import_module("wordllama")
        folder = Path(str(package.__file__)).parent
        self._model = package.WordLlama.load(cache_dir=folder, disable_download=True)
        self.identity = EmbedderIdentity(name="wordllama", dimension=256)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in order."""
        vectors: Vectors = self._model.embed(list(texts), norm=True).astype(np.float32)
        return vectors


EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "hashing": HashingEmbedder,
    "minilm": open_minilm,
    "wordllama": WordLlama,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVectors:
    """An embedder that looks vectors up, and embeds what nobody foresaw."""

    embedder: Embedder
    vectors: dict[str, Vectors]

    @property
    def identity(self) -> EmbedderIdentity:
        """That of the embedder."""
        return self.embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the texts in order."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if unknown:
            self.vectors.update(zip(unknown, self.embedder.embed(unknown), strict=True))
        return np.stack([self.vectors[text] for text in texts])
