"""Normal form and hashes of text. Change NORMALISER_VERSION with any change of results."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

NORMALISER_VERSION = "1"

_WHITE_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"`{3,}|~{3,}")


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


def chunk_hash(heading: str, text: str) -> str:
    """Return the hash by which a chunk is compared: its own heading and its text.

    White space means nothing in prose, so a reflow changes nothing; inside a code fence the
    indentation counts, since it is part of what YAML or Python say.
    """
    return content_hash(heading, text, _indentation_of_code(text))


def _indentation_of_code(text: str) -> str:
    """Return the indents of the lines that stand in fences, empty where there is no fence."""
    fence = ""
    indents = []
    for line in text.splitlines():
        bare = line.lstrip()
        mark = _FENCE.match(bare)
        if fence:
            indents.append(str(len(line) - len(bare)) if bare else "")
            if mark and mark[0].startswith(fence) and not bare.strip(fence[0]).strip():
                fence = ""
        elif mark:
            fence = mark[0]
    return ",".join(indents)


def bag_hash(members: Iterable[str]) -> str:
    """Return the hash of strings in any order; how often each occurs counts."""
    return content_hash(*sorted(members))


def unit_interval(text: str) -> float:
    """Map a text to a number in [0, 1), evenly spread and the same on every machine."""
    return int(content_hash(text)[:13], 16) / 16**13
