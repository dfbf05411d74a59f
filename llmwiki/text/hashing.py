"""Normal form and hashes of text. Change NORMALISER_VERSION with any change of results."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

NORMALISER_VERSION = "1"

_WHITE_SPACE = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Return the text in Unicode NFC with runs of white space folded to one blank.

    Two texts with the same normal form say the same: a reflowed paragraph is unchanged.
    """
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def content_hash(*parts: str) -> str:
    """Return the SHA-256 of the normalised parts as 64 hexadecimal digits.

    Each part is preceded by its length, so that moving a boundary changes the hash.
    """
    digest = hashlib.sha256()
    for part in parts:
        encoded = normalise(part).encode()
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


def bag_hash(members: Iterable[str]) -> str:
    """Return the hash of strings in any order; how often each occurs counts."""
    return content_hash(*sorted(members))


def unit_interval(text: str) -> float:
    """Map a text to a number in [0, 1), evenly spread and the same on every machine."""
    return int(content_hash(text)[:13], 16) / 16**13
