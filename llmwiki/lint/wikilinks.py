"""Reads ``[[slug|title]]`` links out of Markdown."""

from collections.abc import Iterator


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
