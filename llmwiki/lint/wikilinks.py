"""Reads ``[[slug|title]]`` links out of Markdown."""

import re
from collections.abc import Iterator

from llmwiki.text.code_spans import without_code_spans

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def link_targets(markdown: str) -> Iterator[str]:
    """Yield the slugs that the text links, in order, without the title or an anchor.

    A link ends in the line that it begins in, and the last ``[[`` before the end opens it.
    """
    for line in markdown.splitlines():
        end = line.find("]]")
        begin = 0
        while end >= 0:
            opening = line.rfind("[[", begin, end)
            if opening >= 0:
                target = line[opening + 2 : end].partition("|")[0].partition("#")[0].strip()
                if target:
                    yield target
            begin = end + 2
            end = line.find("]]", begin)


def prose_link_targets(markdown: str) -> Iterator[str]:
    """Yield the slugs that the text links outside of code; an escaped bracket opens no link."""
    prose = without_code_spans("\n".join(_lines_outside_fences(markdown)))
    return link_targets(_ESCAPE.sub(" ", prose))


def _lines_outside_fences(markdown: str) -> Iterator[str]:
    fence = ""
    for line in markdown.split("\n"):
        match = _FENCE.match(line)
        if not fence:
            if match is None:
                yield line
            else:
                fence = match[1]
        elif match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
