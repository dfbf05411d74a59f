"""Rewrites the Markdown of documentation generators as the Markdown that CommonMark knows.

Code fences and code spans are hidden first, so no rule here ever changes what they hold.
"""

import re

from llmwiki.parsing.markdown.directives import rewrite_directives
from llmwiki.parsing.markdown.fences import mask_fences
from llmwiki.parsing.markdown.masking import Mask, mask_spans
from llmwiki.parsing.markdown.shortcodes import remove_template_tags, rewrite_shortcodes
from llmwiki.parsing.markdown.tags import rewrite_tags

_IMPORT = re.compile(
    r"^import[ \t]++(?:[\w*$][^\n'\"]*[ \t]from[ \t]++|\{[^{}]*+\}[ \t]*+from[ \t]++)?"
    r"(?P<quote>['\"])[^'\"\n]++(?P=quote)[ \t]*+(?:;[ \t]*+)?$",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export[ \t]+"
    r"(?:default[ \t]+|(?:const|let|var)[ \t]+[\w$]+[ \t]*=|(?:async[ \t]+)?function\b)"
    r".*?(?:\n[ \t]*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_STRING_EXPRESSION = re.compile(r"\{[ \t]*(?P<quote>['\"])(?P<text>[^{}\n]*?)(?P=quote)[ \t]*\}")
_EXPRESSION = re.compile(r"(?<![\\$^_}\w{])\{(?!\{)(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}(?!\})")

# No value may open another list, lest each of many that nothing closes runs through the rest.
_ATTRIBUTE = r"(?:[#.][\w:.-]++|[\w:-]++=(?:\"[^\"\n]*+\"|'[^'\n]*+'|[^\s{}\"']++))"
_ATTRIBUTE_LIST = (
    rf"\{{(?::[ \t]*+|[ \t]*+(?=[#.])){_ATTRIBUTE}"
    rf"(?:[ \t]++(?:{_ATTRIBUTE}|[\w-]++))*+[ \t]*+\}}"
)
_ATTRIBUTES_AT_END = re.compile(rf"(?<![ \t])[ \t]*+{_ATTRIBUTE_LIST}[ \t]*+$", re.MULTILINE)
_KRAMDOWN = re.compile(
    r"^[ \t]*\{:[:\w -]*\}[ \t]*$|^[ \t]*\[(?:TOC|\[_?TOC_?\])\][ \t]*$", re.MULTILINE
)
_ICON = re.compile(r":(?:material|fontawesome|octicons|simple|bootstrap)-[\w-]+:")
_ROLE_NAMES = (
    "ref|numref|eq|doc|download|term|any|abbr|guilabel|menuselection|file|kbd|command|program"
    "|option|envvar|code|math|samp|sub|sup|attr|class|func|meth|mod|exc|obj|data"
    r"|(?:py|c|cpp|js|std|rst):[\w:]+"
)
_EXPLICIT_TARGET = re.compile(r"(?P<text>[^<>]++)<[^<>]++>$")
_PROSE_ROLES = {"ref", "numref", "doc", "download", "term", "any", "abbr", "guilabel", "math"}
_LABEL_LINE = re.compile(r"^\([\w:. -]+\)=[ \t]*$", re.MULTILINE)

_NESTING = re.compile(
    r"^(?P<kept>(?:[ \t]*+(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){12})"
    r"(?:[ \t]*+(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))++",
    re.MULTILINE,
)
_BRACKETS = re.compile(r"(?<!\\)(?:!?\[){100}(?:!?\[)*+")
"""As many open no link, and each costs markdown-it a look through its deepest nesting."""
_DEEPEST_COLUMN = 48
_DEEP_INDENTATION = re.compile(rf"^(?P<kept>[ \t]{{{_DEEPEST_COLUMN}}})[ \t]++", re.MULTILINE)


def to_commonmark(text: str, *, is_mdx: bool = False) -> str:
    """Return the text with the markup of Hugo, MkDocs, Docusaurus, MyST and HTML rewritten."""
    mask = Mask(text)
    text = mask_spans(mask_fences(text, mask), mask)
    text = _remove_modules(text)
    text = remove_template_tags(rewrite_shortcodes(text, mask))
    text = rewrite_tags(text, mask)
    if is_mdx:
        text = _remove_expressions(text)
    text = _remove_roles(text, mask)
    text = rewrite_directives(text)
    text = _remove_attributes(text, mask)
    return mask.reveal(_clamp_nesting(text))


def _remove_modules(text: str) -> str:
    """Take out the import and export statements of MDX."""
    if "import" not in text and "export" not in text:
        return text
    return _EXPORT.sub("", _IMPORT.sub("", text))


def _remove_expressions(text: str) -> str:
    """Take out MDX expressions; a string is its own text.

    Braces that follow a letter or a backslash are those of formulas, and stay.
    """
    return _EXPRESSION.sub("", _STRING_EXPRESSION.sub(r"\g<text>", text))


def _remove_roles(text: str, mask: Mask) -> str:
    """Take out the roles of MyST, as in {ref}`text <target>`."""

    def replace(match: re.Match[str]) -> str:
        content = mask.reveal(match["content"])
        if match["name"] not in _PROSE_ROLES:
            return mask.hide(content)
        target = _EXPLICIT_TARGET.match(content.strip("`"))
        return target["text"].rstrip() if target else content.strip("`")

    role = rf"\{{(?P<name>{_ROLE_NAMES})\}}(?P<content>{mask.pattern})"
    return _LABEL_LINE.sub("", re.sub(role, replace, text))


def _remove_attributes(text: str, mask: Mask) -> str:
    """Take out attribute lists, icons and marks of where a table of contents goes."""
    text = _ICON.sub("", _KRAMDOWN.sub("", text))
    if "{" not in text:
        return text
    # Inline, a list follows what it describes: a link, an image, code or emphasis.
    inline = rf"(?P<described>[)\]*_]|{mask.pattern}){_ATTRIBUTE_LIST}"
    return re.sub(inline, r"\g<described>", _ATTRIBUTES_AT_END.sub("", text))


def _clamp_nesting(text: str) -> str:
    """Flatten what is nested so deeply that the parser would drop it."""
    text = _BRACKETS.sub(lambda match: match[0].replace("[", "\\["), text)
    return _DEEP_INDENTATION.sub(r"\g<kept>", _NESTING.sub(r"\g<kept> ", text))
