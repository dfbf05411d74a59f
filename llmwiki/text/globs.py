"""Globs over document paths, with ``**`` for any number of folders."""

import re
from functools import lru_cache


def matches_glob(path: str, pattern: str) -> bool:
    """Tell whether the whole path matches: ``*`` stays in a folder, ``**`` crosses folders."""
    return _compile(pattern).fullmatch(path) is not None


def glob_expression(pattern: str) -> str:
    """Return the regular expression that the whole path must match, for any engine."""
    # `**/**/` says what `**/` says, and would try every division of a deep path.
    once = re.sub(r"(?:\*\*/)+", "**/", pattern)
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", once)
    expressions = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(expressions.get(part) or re.escape(part) for part in parts)


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(glob_expression(pattern))
