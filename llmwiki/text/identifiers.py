"""Identifiers in technical prose: options, dotted names, versions, error codes.

PostgreSQL's parser splits or fuses them, so that they need an index of their own.
"""

import re

_IDENTIFIER = re.compile(
    r"""(?<![\w-])(?:
        --?[A-Za-z][\w-]*                               # --max-retries, -v
      | v?\d+(?:\.\d+)+(?:[-.]?(?:rc|alpha|beta|a|b|dev|post)\.?\d*)?  # v1.2.3, 3.11, 2.0rc1
      | [A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+(?:\(\))?    # package.module.name, ns::name
      | [A-Za-z]+_\w+                                   # snake_case, MAX_SIZE
      | _\w+
      | [a-z]+(?:[A-Z][a-z0-9]+)+                       # camelCase
      | (?:[A-Z][a-z0-9]+){2,}                          # PascalCase
      | [A-Z]{1,6}-?\d{2,6}                             # E0308, HTTP-404, PEP8
      | [A-Za-z_]\w*\(\)                                # call()
    )(?![\w-])""",
    re.VERBOSE,
)


def find_identifiers(text: str) -> tuple[str, ...]:
    """Return the distinct identifiers of the text, lower-cased, in order of first occurrence."""
    seen = dict.fromkeys(match.lower().removesuffix("()") for match in _IDENTIFIER.findall(text))
    return tuple(seen)
