"""Finds in prose the markup that is at work there and in no cited chunk."""

import re
from collections.abc import Sequence

from llmwiki.grounding.evidence import ChunkFacts, is_mentioned
from llmwiki.text.code_spans import without_code_spans
from llmwiki.text.hashing import normalise

_MARKUP = re.compile(
    r"</?(?!https?:)[A-Za-z][^<>\n]{0,200}>?|<!--|<[!?][A-Za-z\[]|!\[|\b(?:javascript|vbscript):"
    r"|\bdata:text/",
    re.IGNORECASE,
)
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_TARGET = re.compile(r"\]\(\s*(?:<([^<>\n]*)>?|([^\s)]*))")


def markup(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find a tag, image, script address, link or turn of direction that no chunk has.

    A tag that the chunks have in code only is none that they have.
    """
    for turn in _DIRECTION.findall(text):
        if not is_mentioned(turn, cited):
            return f"U+{ord(turn):04X}"
    prose = without_code_spans(text)
    for match in _MARKUP.finditer(prose):
        wanted = normalise(match[0]).casefold()
        is_tag = wanted.startswith("<")
        if not any(wanted in (each.live if is_tag else each.folded) for each in cited):
            return match[0]
    return _foreign_target(prose, cited)


def _foreign_target(prose: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Find the target of a link that the chunks do not have; unless of the web, as a target."""
    for match in _TARGET.finditer(prose):
        target = match[1] or match[2] or ""
        wanted = re.escape(target.casefold())
        if target.casefold().startswith(("http://", "https://")):
            known = re.compile(rf"(?<![\w/:.@-]){wanted}(?![\w/@-])")
        else:
            known = re.compile(rf"""(?:\]\(\s*<?|\]:\s*<?|<|=["']){wanted}(?=[\s)>"']|$)""")
        if not target or not any(known.search(chunk.folded) for chunk in cited):
            return match[0]
    return None
