"""Hides fenced code line by line, and unwraps the fences that hold prose."""

import re
from collections.abc import Iterator

from llmwiki.parsing.markdown.masking import Mask

_OPENING = re.compile(
    r"(?P<prefix>[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+)"
    r"(?P<fence>`{3,}+(?=[^`]*$)|~{3,}+)[ \t]*(?P<info>.*)$"
)
_CLOSING = re.compile(r"[ \t>]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*$")
_HIGHLIGHT_LINE = re.compile(
    r"\s*+(?://|#|<!--|/\*|\{/\*|--)\s*highlight-(?:next-line|start|end)\s*+(?:(?:\*/\}?|-->)\s*+)?$"
)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:+-]+)\}[ \t]*(?P<argument>.*)$")
_CLASSES = re.compile(r"\{[ \t]*+\.?(?P<language>[\w+#-]++)[^}]*+\}$")
_HIGHLIGHT_OPTION = re.compile(
    r"""(?<!\s)\s++(?:\{[\d,\s-]*+\}|\{(?=[^{}]*+\})[^{}]*?hl_lines[^{}]*+\}
        |showLineNumbers(?:=\S++)?
        |(?:hl_lines|linenums|linenostart|highlight)\s*+=\s*+(?:"[^"]*+"|\{[^{}]*+\}|\S++))""",
    re.VERBOSE,
)
_OPTION_LINE = re.compile(r"\s*:[\w-]+:(?:\s|$)")

_CODE_DIRECTIVES = {"code", "code-block", "code-cell", "sourcecode", "ipython"}
_PROSE_DIRECTIVES = {
    "admonition", "attention", "caution", "danger", "error", "hint", "important", "note",
    "seealso", "tip", "warning", "versionadded", "versionchanged", "deprecated", "dropdown",
    "tab-item", "tab-set", "topic", "sidebar", "margin", "grid", "grid-item", "grid-item-card",
    "card", "epigraph",
}  # fmt: skip
_EMPTY_DIRECTIVES = {"toctree", "include", "literalinclude", "contents", "tableofcontents"}


def mask_fences(text: str, mask: Mask) -> str:
    """Hide the lines of code fences, each by itself so that its indentation stays in sight.

    Fences that hold prose (MyST directives, `mdx-code-block`) become ``:::`` directives or
    plain text; those that name other files go.
    """
    return "\n".join(_FenceReader(mask).read(text.split("\n")))


class _FenceReader:
    """Reads lines and knows the fences that are open at each."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._prose: list[str] = []
        self._code = ""
        self._indentation = ""
        self._is_dropped = False
        self._may_hold_options = False

    def read(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            if self._code:
                yield from self._read_code(line)
            elif self._prose and _closes(line, self._prose[-1]):
                self._prose.pop()
                yield from ("", f"{_indentation(line)}:::", "")
            elif self._may_hold_options and _OPTION_LINE.match(line):
                continue
            elif (opening := _OPENING.match(line)) is not None:
                yield from self._open(line, opening)
            else:
                self._may_hold_options = False
                yield line

    def _read_code(self, line: str) -> Iterator[str]:
        is_last = _closes(line, self._code)
        if is_last:
            self._code = ""
        if self._is_dropped or (not is_last and _HIGHLIGHT_LINE.match(line)):
            return
        if self._may_hold_options and _OPTION_LINE.match(line):
            return
        self._may_hold_options = False
        yield self._hide(line)

    def _open(self, line: str, opening: re.Match[str]) -> Iterator[str]:
        info = opening["info"].strip()
        directive = _DIRECTIVE.match(info)
        name = directive["name"].lower() if directive else info
        self._may_hold_options = directive is not None
        if name in _PROSE_DIRECTIVES or name == "mdx-code-block":
            self._prose.append(opening["fence"])
            title = directive["argument"] if directive else ""
            kind = name if directive else "tabs"
            yield from (f"{_indentation(line)}:::{kind}[{title}]", "")
            return
        self._code = opening["fence"]
        self._is_dropped = directive is not None and name in _EMPTY_DIRECTIVES
        self._indentation = _indentation(line)
        if not self._is_dropped:
            yield self._hide(opening["prefix"] + opening["fence"] + _clean_info(info))

    def _hide(self, line: str) -> str:
        """Hide a line but for its indentation; an empty one is given that of its fence."""
        if not line.strip():
            return self._indentation + self._mask.hide("")
        indentation = _indentation(line)
        return indentation + self._mask.hide(line[len(indentation) :])


def _closes(line: str, fence: str) -> bool:
    closing = _CLOSING.match(line)
    return closing is not None and closing["fence"].startswith(fence)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _clean_info(info: str) -> str:
    """Return the language and what else is said of the code, without highlighting."""
    if directive := _DIRECTIVE.match(info):
        name, argument = directive["name"], directive["argument"]
        return argument if name.lower() in _CODE_DIRECTIVES else f"{name} {argument}".strip()
    if classes := _CLASSES.match(info):
        return classes["language"]
    return _HIGHLIGHT_OPTION.sub("", info)
