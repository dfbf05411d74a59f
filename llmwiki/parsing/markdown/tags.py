"""HTML and JSX inside of Markdown: tags go, text stays."""

import html
import re
from collections.abc import Callable

from llmwiki.parsing.markdown.delimited import remove_delimited, replace_delimited
from llmwiki.parsing.markdown.masking import Mask
from llmwiki.text.code_spans import split_code_spans

_DEEPEST_BRACES = 8
"""Of an expression in an attribute, as a handler with objects in it has."""


def _braces(depth: int) -> str:
    """Return the pattern of a pair of braces with so many more in each other."""
    inner = "[^{}]" if depth == 0 else f"[^{{}}]|{_braces(depth - 1)}"
    return rf"\{{(?:{inner})*+\}}"


_BRACES = _braces(_DEEPEST_BRACES)
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|{_BRACES}|[^\s"'=<>`{{]++)"""
# What HTML allows but for braces, since templates write `(click)`, `[value]`, `*ngIf` and `#ref`.
_NAME_OF_ATTRIBUTE = r"""[^\s"'<>/=`{}]++"""
# A type parameter with a bound looks like a tag and is none: `<T extends object = {}>`.
_NO_TYPE_PARAMETER = r"(?!\s++(?:extends|super)\s)"
_TAG = re.compile(
    rf"<(?P<closing>/?)(?P<name>[A-Za-z][\w.-]*+){_NO_TYPE_PARAMETER}"
    rf"(?P<attributes>(?:\s++(?:{_NAME_OF_ATTRIBUTE}(?:\s*+=\s*+{_VALUE})?|{_BRACES}))*+)"
    r"\s*+(?P<empty>/?)>|</?>"
)
_ATTRIBUTE = re.compile(
    r"""(?<![\w:@.-])(?P<name>[\w:@.-]++)\s*+=\s*+(?:\{?"(?P<double>[^"]*)"\}?|\{?'(?P<single>[^']*)'\}?)"""
)
_INVISIBLE = {
    re.compile(rf"<{name}\b[^<>]*(?<!/)>", re.IGNORECASE): re.compile(
        rf"</{name}\s*>", re.IGNORECASE
    )
    for name in ("script", "style", "noscript", "iframe", "svg")
}
_PREFORMATTED = re.compile(r"^(?P<indentation>[ \t]*+)<pre\b[^<>]*>", re.IGNORECASE | re.MULTILINE)
_PREFORMATTED_END = re.compile(r"</pre\s*>", re.IGNORECASE)
_CODE = re.compile(r"<code\b[^<>]*>(?P<code>[^<>`\n]*)</code>", re.IGNORECASE)
_HEADING = re.compile(
    r"^[ \t]*+<h(?P<level>[1-6])\b[^<>]*+>(?P<text>[^\n]*?)</h(?P=level)>[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LINK = re.compile(
    r"""<a\b(?>[^<>]*?\shref=["'](?P<address>https?://[^"'<>\s]*+)["'])[^<>]*+>"""
    r"(?P<text>(?:(?!</?a\b|\n[ \t]*\n).){0,500}?)</a\s*>",
    re.DOTALL | re.IGNORECASE,
)
_DECLARATION = re.compile(r"<(?:!DOCTYPE|\?xml)[^<>]*>", re.IGNORECASE)
_PREFIX = re.compile(r"[ \t>]{0,100}+")
"""Bounded, as it is repeated; deeper containers are flattened anyway."""

_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "legend", "li", "main",
    "menu", "nav", "ol", "optgroup", "option", "p", "section", "summary", "table", "tbody",
    "tfoot", "thead", "title", "tr", "ul",
}  # fmt: skip
_INLINE = {
    "a", "abbr", "acronym", "area", "audio", "b", "bdi", "bdo", "big", "br", "button", "canvas",
    "cite", "code", "col", "colgroup", "data", "del", "dfn", "em", "embed", "font", "i",
    "iframe", "img", "input", "ins", "kbd", "label", "link", "map", "mark", "meta", "meter",
    "object", "output", "param", "picture", "pre", "progress", "q", "rp", "rt", "ruby", "s",
    "samp", "select", "slot", "small", "source", "span", "strike", "strong", "style", "sub",
    "sup", "svg", "td", "template", "textarea", "th", "time", "track", "tt", "u", "var",
    "video", "wbr",
}  # fmt: skip
_SPACED = {"br", "td", "th", "option", "img"}
_STARTS_BLOCK = re.compile(
    rf"[ \t]*</?(?:{'|'.join(sorted(_BLOCKS | {'td', 'th'}))})\b", re.IGNORECASE
)
_NAMING_ATTRIBUTES = ("label", "title", "header", "heading", "summary", "caption", "alt", "value")


def rewrite_tags(text: str, mask: Mask) -> str:
    """Take tags out; code, headings, web links and images in HTML become Markdown or text.

    What only looks like a tag, as a placeholder ``<YOUR_KEY>``, stays.
    """
    if "<" not in text:
        return text
    text = _DECLARATION.sub("", text)
    for opening, closing in _INVISIBLE.items():
        text = remove_delimited(text, opening, closing)
    text = replace_delimited(
        text, _PREFORMATTED, _PREFORMATTED_END, lambda start, code: _fence(start, code, mask)
    )
    text = _CODE.sub(lambda match: mask.hide(f"`{html.unescape(match['code'])}`"), text)
    text = _HEADING.sub(lambda match: f"\n{'#' * int(match['level'])} {match['text']}\n", text)
    text = _LINK.sub(_markdown_link, text)
    text = _outdent_blocks(text)
    return _TAG.sub(_replacer(text), text)


def without_tags(line: str) -> str:
    """Return a line that is no Markdown, as a title is, without the tags in it."""
    if "<" not in line:
        return line
    replace = _replacer(line)
    # The backslash of what only looks like a tag is for Markdown.
    plain = (
        part if is_code else _TAG.sub(lambda match: replace(match).removeprefix("\\"), part)
        for part, is_code in split_code_spans(line)
    )
    return " ".join("".join(plain).split())


def _fence(opening: re.Match[str], code: str, mask: Mask) -> str:
    plain = html.unescape(_TAG.sub("", mask.reveal(code))).strip("\n")
    lines = ["```", *plain.split("\n"), "```"]
    return "\n" + "\n".join(opening["indentation"] + mask.hide(line) for line in lines) + "\n"


def _markdown_link(match: re.Match[str]) -> str:
    text = " ".join(match["text"].split()).replace("[", "\\[").replace("]", "\\]")
    return f"[{text}](<{match['address']}>)" if text else ""


def _outdent_blocks(text: str) -> str:
    """Take the indentation from HTML below its first line, lest it read as indented code."""
    lines: list[str] = []
    column: int | None = None
    for line in text.split("\n"):
        stripped = line.lstrip(" \t")
        if not stripped:
            column = None
        elif column is None and _STARTS_BLOCK.match(line):
            column = len(line) - len(stripped)
        elif column is not None:
            line = line[: min(column, len(line) - len(stripped))] + stripped  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def _replacer(text: str) -> Callable[[re.Match[str]], str]:
    """Return the function that replaces a tag, knowing what the whole text closes."""
    closed = set(re.findall(r"</([A-Za-z][\w.-]*)", text))

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return ""
        if name.lower() in _BLOCKS and name == name.lower():
            return _break(match, "- " if name == "li" and not match["closing"] else "")
        if name.lower() in _INLINE:
            return _attribute(match, ("alt",)) if name == "img" else " " * (name in _SPACED)
        if not _is_component(match, name in closed):
            return "\\" + match[0]
        return _break(match, _title(match))

    return replace


def _is_component(match: re.Match[str], is_closed: bool) -> bool:  # noqa: FBT001
    name: str = match["name"]
    if not (name[0].isupper() or "-" in name):
        return "=" in match["attributes"] and not name[0].isupper()
    return is_closed or bool(match["empty"]) or "=" in match["attributes"]


def _title(match: re.Match[str]) -> str:
    title = _attribute(match, _NAMING_ATTRIBUTES)
    return f"{title}:" if title and title[-1].isalnum() else title


def _attribute(match: re.Match[str], names: tuple[str, ...]) -> str:
    found = {item["name"]: item for item in _ATTRIBUTE.finditer(match["attributes"])}
    item = next((found[name] for name in names if name in found), None)
    return " ".join((item["double"] or item["single"] or "").split()) if item else ""


def _break(match: re.Match[str], line: str) -> str:
    """Return a paragraph break, with the line if any, within the tag's own container."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    prefix_match = _PREFIX.match(match.string, start, match.start())
    prefix = prefix_match[0] if prefix_match else ""
    before = match.string[start : match.start()]
    if "|" in before or before.lstrip(" >").startswith("#"):
        return f" {line} " if line else " "
    if not line:
        return f"\n{prefix}\n{prefix}"
    end = "" if line == "- " else f"\n{prefix}\n{prefix}"
    return f"\n{prefix}\n{prefix}{line}{end}"
