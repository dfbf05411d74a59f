"""Finds in prose what only the request can have put there."""

import re
from collections.abc import Sequence

from llmwiki.grounding.blocks import without_invisible
from llmwiki.grounding.evidence import ChunkFacts, is_mentioned

_LABEL = re.compile(r"\bc\d{1,4}\b")
_BOUNDARY = re.compile(r"\b(?:BEGIN |END )?CHUNK c\d|(?:---|===) (?:END|CHUNK|TOPIC)\b")
_PHRASE = re.compile(
    r"\bas (?:requested|instructed|you asked)\b"
    r"|\b(?:the|these|this) (?:provided |given |supplied |above )?chunks?\b"
    r"|\b(?:provided|given|supplied) (?:context|sources?|excerpts?|documentation)\b",
    re.IGNORECASE,
)


def leaks(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a label, a boundary or a phrase of the request that no chunk has."""
    text = without_invisible(text)
    for expression in (_LABEL, _BOUNDARY, _PHRASE):
        for match in expression.finditer(text):
            if not is_mentioned(match[0], cited):
                return match[0]
    return None
