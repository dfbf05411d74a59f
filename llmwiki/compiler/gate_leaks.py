"""Finds in prose what only the request can have put there."""

import re
from collections.abc import Sequence

from llmwiki.compiler.gate_blocks import without_invisible
from llmwiki.compiler.gate_evidence import PassageFacts, is_mentioned

_LABEL = re.compile(r"\bc\d{1,4}\b")
_BOUNDARY = re.compile(r"\b(?:BEGIN |END )?PASSAGE c\d|(?:---|===) (?:END|PASSAGE|TOPIC)\b")
_PHRASE = re.compile(
    r"\bas (?:requested|instructed|you asked)\b"
    r"|\b(?:the|these|this) (?:provided |given |supplied |above )?passages?\b"
    r"|\b(?:provided|given|supplied) (?:context|sources?|excerpts?|documentation)\b",
    re.IGNORECASE,
)


def leaks(text: str, cited: Sequence[PassageFacts]) -> str | None:
    """Find a label, a boundary or a phrase of the request that no passage has."""
    text = without_invisible(text)
    for expression in (_LABEL, _BOUNDARY, _PHRASE):
        for match in expression.finditer(text):
            if not is_mentioned(match[0], cited):
                return match[0]
    return None
