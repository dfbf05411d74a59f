"""Which chunks say nothing without the one before them, by what stands at the cut."""

import re

from llmwiki.store.found_chunks import FoundChunk

_INTRODUCES = (":", "\uff1a")
_BLOCKS = (
    re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s"),  # an item of a list
    re.compile(r"\s*\|"),  # a row of a table
    re.compile(r"\s*(?:```|~~~)"),  # the edge of a block of code
)


def needs_lead_in(chunk: FoundChunk, before: FoundChunk) -> bool:
    """Tell whether a chunk only makes sense together with the one before it in its section.

    So it is where that one introduces it with a colon, where it goes on in the middle of a
    sentence, and where both are parts of one list, table or block of code that was cut.
    """
    if before.text.rstrip().endswith(_INTRODUCES) or chunk.text[:1].islower():
        return True
    last = before.text.rstrip().rpartition("\n")[2]
    return any(block.match(chunk.text) and block.match(last) for block in _BLOCKS)
