"""An embedder made of hashing alone: no model, no download, the same on every machine."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from llmwiki.domain import EmbedderIdentity
from llmwiki.ports import Vectors

_WORD = re.compile(r"[^\W_]+")
_GRAM_LENGTH = 4
_GRAM_WEIGHT = 0.3
"""The 4-grams of a word of usual length together weigh about as much as the word."""


class HashingEmbedder:
    """Signed feature hashing of words and of their 4-grams, weighted by 1 + log(count).

    It knows spelling, not meaning: two texts are near when they share words or parts of words.
    Synonyms, paraphrases and other languages are as far apart as unrelated texts, frequent words
    count as much as telling ones, and unrelated features that collide blur each other. It is for
    machines without ONNX Runtime and for dry runs; search by it is worse than by full text.
    """

    def __init__(self, dimension: int = 256) -> None:
        self._identity = EmbedderIdentity(name="hashing-1", dimension=dimension)

    @property
    def identity(self) -> EmbedderIdentity:
        """The vector space; its name changes with the features."""
        return self._identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in order."""
        rows = [self._embed_one(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._identity.dimension)

    def _embed_one(self, text: str) -> list[float]:
        vector = [0.0] * self._identity.dimension
        for (feature, weight), count in Counter(_features(text)).items():
            number = _hash(feature)
            sign = 1.0 if number & 1 else -1.0
            vector[(number >> 1) % len(vector)] += sign * weight * (1.0 + math.log(count))
        # fsum rounds once, so that no processor's order of additions shows in the result.
        length = math.sqrt(math.fsum(value * value for value in vector))
        if length == 0.0:
            # A text without words still needs a direction, and always the same one.
            return [1.0] + [0.0] * (len(vector) - 1)
        return [value / length for value in vector]


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word, 1.0
        padded = f"<{word}>"  # so that a word's beginning and end are features of their own
        for start in range(len(padded) - _GRAM_LENGTH + 1):
            yield "#" + padded[start : start + _GRAM_LENGTH], _GRAM_WEIGHT


@lru_cache(maxsize=65_536)
def _hash(feature: str) -> int:
    return int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
