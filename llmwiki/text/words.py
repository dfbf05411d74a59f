"""Words of a text as people compare them: without case, punctuation and Unicode's variants."""

import re
import unicodedata

_WORD = re.compile(
    # A script without blanks has no words to find: each character stands for itself.
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\\W_]+"
)


def find_words(text: str) -> tuple[str, ...]:
    """Return the words of the text, case-folded, in order."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def spaced(text: str) -> str:
    """Return the words between blanks, so that whole words can be looked up as substrings."""
    return f" {' '.join(find_words(text))} "
