"""Identifiers in technical prose: options, paths, dotted names, versions, headers, error codes.

PostgreSQL's parser splits or fuses them, so that they need an index of their own. What is found is
compared letter by letter, but for case. Takes time linear in the text: no match begins inside of
what another one could have begun with.
"""

import re

IDENTIFIERS_VERSION = "3"
"""Part of a document's fingerprint: raise it when the same text gives other identifiers."""

_IDENTIFIER = re.compile(
    r"""(?<![\w-])(?:
        --?[A-Za-z][\w-]*                               # --max-retries, -v
      | v?\d+(?:\.\d+)+(?:[-.]?(?:rc|alpha|beta|a|b|dev|post)\.?\d*)?  # v1.2.3, 3.11, 2.0rc1
      | v\d+
      | (?!(?:[A-Za-z]\.){1,4}[A-Za-z](?!\w|\.\w))      # never i.e., U.S., initials
        [A-Za-z_]\w*(?:-\w+)*(?:(?:\.|::)[A-Za-z_]\w*(?:-\w+)*)+(?:\(\))?
                                                        # package.name, ns::name, my-app.yaml
      | [A-Za-z][A-Za-z0-9]*_\w+                        # snake_case, MAX_SIZE
      | _\w+
      | [a-z]+(?:[A-Z][a-z0-9]+)+                       # camelCase
      | (?:[A-Z][a-z0-9]+){2,}                          # PascalCase
      | (?:[A-Z][A-Za-z0-9]*-)+[A-Z][A-Za-z]*           # X-Request-Id, Content-Type
      | x(?:-[a-z0-9]+){2,}                             # x-request-id
      | [A-Z]{1,6}-?\d{2,7}(?:-\d{1,7})*                # E0308, HTTP-404, CVE-2024-1234
      | 0x[0-9A-Fa-f]+
      | [A-Za-z_]\w*\(\)                                # call()
    )(?![\w-])
    | (?<![\w-])(?:[A-Za-z]\+\+(?:\d\d)?|[A-Z]\#)(?![\w+\#])    # C++, C++17, C#
    | (?<![\w$])\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})     # $HOME, ${HOME}
    | (?<![\w/.:~\\-])(?=~?/\S\S)~?(?:/\.?[\w@+%-]+(?:\.[\w@+%-]+)*)+    # /etc/hosts, ~/.netrc
    """,
    re.VERBOSE,
)


def find_identifiers(text: str) -> tuple[str, ...]:
    """Return the distinct identifiers of the text, lower-cased, in order of first occurrence.

    A call goes without its brackets, a variable of a shell without its ``$`` and braces.
    """
    return tuple(dict.fromkeys(map(_bare, _IDENTIFIER.findall(text))))


def _bare(match: str) -> str:
    return match.lower().removesuffix("()").strip("${}")
