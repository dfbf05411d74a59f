"""Hugo shortcodes, and the template tags of Jinja, Liquid and Go."""

import re

from llmwiki.parsing.markdown.delimited import remove_delimited, replace_delimited
from llmwiki.parsing.markdown.masking import Mask

# Escapes are counted, as else each of many escaped quotes is taken for one to close far below.
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+){0,100}+"'
_SHORTCODE = re.compile(
    r"(?P<emphasis>[*_]{1,3}+)?\{\{[<%]-?\s*+(?P<closing>/?)\s*+(?P<name>[\w./-]+?)(?P<arguments>\s"
    rf"(?:{_QUOTED}|\s++(?!-?[%>]\}}\}})|(?!/?\s*+-?[%>]\}}\}}|\{{\{{[<%])\S)*+)?"
    r"\s*+(?:/\s*+)?-?[%>]\}\}(?(emphasis)(?P=emphasis))",
    re.DOTALL,
)
_COMMENT = re.compile(r"\{\{[<%]\s*comment\s*[%>]\}\}")
_COMMENT_END = re.compile(r"\{\{[<%]\s*/\s*comment\s*[%>]\}\}")
_CODE = re.compile(
    r"^(?P<indentation>[ \t]*+)\{\{[<%]\s*+highlight\s++(?P<language>[\w+#-]++)"
    r"(?:[^{}]|\{(?!\{))*+(?<=[%>])\}\}[ \t]*+\n?",
    re.MULTILINE,
)
_CODE_END = re.compile(r"\{\{[<%]\s*/\s*highlight\s*[%>]\}\}")
_NAMED = re.compile(
    rf"(?<![\w-])(?P<name>[\w-]++)\s*+=\s*+(?:(?P<quoted>{_QUOTED})|(?P<bare>\S++))", re.DOTALL
)
_POSITIONAL = re.compile(rf"{_QUOTED}|\S+", re.DOTALL)
_VARYING_ADDRESS = re.compile(
    r"(?P<inline>\]\()(?=[^)\n]{0,1000}?\{\{)[^)]{0,1000}+\)"
    r"|^(?P<definition>[ \t]*+\[[^\]\n]++\]:[ \t]*+)(?=[^\n]*?\{\{)[^\n]*+$",
    re.MULTILINE,
)
_PREFIX = re.compile(r"[ \t>]{0,100}+")
"""Bounded, as it is repeated; deeper containers are flattened anyway."""

_TEMPLATE_TAG = re.compile(r"\{%-?\s")
_TEMPLATE_TAG_END = re.compile(r"%\}")
_GO_ACTION = re.compile(
    r"\{\{-?\s*(?:\$|(?:if|else|end|range|with|define|block|template|partial)\b)[^{}\n]*\}\}"
)
_TEMPLATE_VALUE = re.compile(
    r"(?P<equals>=?)\{\{-?"
    r"(?:\s*+[\w.\[\]'\"|()][\w.\[\]'\"|() ]*+\s*+|[^\S ]*+[ ]\s*+)-?\}\}"
)
_INCLUDE = re.compile(r"\{\*[^{}\n]*\*\}|\{![^{}\n]*!\}|^[ \t]*-+8<-+.*$", re.MULTILINE)

_ADMONITIONS = {
    "admonition", "alert", "callout", "caution", "danger", "details", "expand", "hint",
    "important", "info", "note", "notice", "pageinfo", "tip", "warning",
}  # fmt: skip
_TABS = {"tab", "tabs", "tabpane", "code-tab", "codetabs", "tabset"}
_DESCRIBING_ARGUMENTS = ("caption", "alt")
_NAMING_ARGUMENTS = ("title", "header", "name", "label", "heading", *_DESCRIBING_ARGUMENTS)


def rewrite_shortcodes(text: str, mask: Mask) -> str:
    """Take shortcodes out; the text that they enclose stays, with its titles.

    Alerts and tabs become ``:::`` directives.
    """
    if "{{" not in text:
        return text
    text = remove_delimited(text, _COMMENT, _COMMENT_END)
    text = replace_delimited(
        text, _CODE, _CODE_END, lambda opening, code: _fence(opening, code, mask)
    )
    # An address with a value missing is a false one: the link keeps its text alone.
    text = _VARYING_ADDRESS.sub(_without_address, text)
    return _SHORTCODE.sub(_replace, text)


def remove_template_tags(text: str) -> str:
    """Take out includes, and the tags and values of a page that is a template itself."""
    text = _GO_ACTION.sub("", _INCLUDE.sub("", text))
    without_tags = remove_delimited(text, _TEMPLATE_TAG, _TEMPLATE_TAG_END)
    return text if without_tags == text else _TEMPLATE_VALUE.sub(_without_value, without_tags)


def _without_value(match: re.Match[str]) -> str:
    """Leave nothing, or the empty value of an HTML attribute."""
    return '=""' if match["equals"] else ""


def _fence(opening: re.Match[str], code: str, mask: Mask) -> str:
    lines = [f"```{opening['language']}", *code.rstrip().split("\n"), "```"]
    return "\n".join(opening["indentation"] + mask.hide(line) for line in lines)


def _without_address(match: re.Match[str]) -> str:
    return f"{match['inline']}#)" if match["inline"] else f"{match['definition']}#"


def _replace(match: re.Match[str]) -> str:
    name = match["name"].rsplit("/", 1)[-1].lower()
    is_block = name in _ADMONITIONS or name in _TABS
    if match["closing"]:
        return _own_lines(match, ":::") if is_block else ""
    arguments = match["arguments"] or ""
    if is_block:
        return _own_lines(match, f":::{_kind(name, arguments)}[{_title(name, arguments)}]")
    named = _named_arguments(arguments)
    key = next((key for key in _NAMING_ARGUMENTS if key in named), None)
    if key is None:
        return ""
    default = f" (default: {named['default']})" if "default" in named else ""
    introduces = ":" if key not in _DESCRIBING_ARGUMENTS and named[key][-1:].isalnum() else ""
    return _own_lines(match, f"{named[key]}{default}{introduces}")


def _kind(name: str, arguments: str) -> str:
    if name in _TABS:
        return "tab" if name in {"tab", "code-tab"} else "tabs"
    first = _POSITIONAL.search(arguments)
    if name in {"notice", "callout", "admonition"} and first and first[0].strip('"').isalpha():
        return first[0].strip('"')
    return name


def _title(name: str, arguments: str) -> str:
    named = _named_arguments(arguments)
    for key in ("title", "header", "name", "heading", "summary"):
        if key in named:
            return named[key]
    if name in {"tab", "details", "expand"} and not named:
        return " ".join(_unquote(word) for word in _POSITIONAL.findall(arguments))
    return ""


def _named_arguments(arguments: str) -> dict[str, str]:
    found = _NAMED.finditer(arguments)
    return {match["name"]: _unquote(match["quoted"] or match["bare"]) for match in found}


def _unquote(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] == '"':
        word = word[1:-1].replace('\\"', '"')
    return " ".join(word.split())


def _own_lines(match: re.Match[str], line: str) -> str:
    """Return the line as a paragraph of the container that the shortcode stands in."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    prefix_match = _PREFIX.match(match.string, start, match.start())
    prefix = prefix_match[0] if prefix_match else ""
    return f"\n{prefix}\n{prefix}{line}\n{prefix}\n{prefix}"
