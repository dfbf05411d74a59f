"""reStructuredText, as docutils and Sphinx write it, becomes sections and blocks."""

import re
from collections.abc import Iterator

from docutils import nodes
from docutils.frontend import Values, get_default_settings
from docutils.parsers.rst import Parser
from docutils.transforms.references import (
    AnonymousHyperlinks,
    ExternalTargets,
    Footnotes,
    IndirectHyperlinks,
    PropagateTargets,
)
from docutils.utils import new_document

from llmwiki.parsing.builder import DocumentBuilder
from llmwiki.parsing.parsed import ParsedDocument
from llmwiki.parsing.restructured_text.rendering import inline_text, render
from llmwiki.parsing.restructured_text.substitutions import expand_substitutions
from llmwiki.parsing.restructured_text.tolerance import tolerance

_DEFAULT_SETTINGS = get_default_settings(Parser)
"""Made once, as making them plays with the filters of warnings, which threads share."""

_LINKS_AND_FOOTNOTES = [
    PropagateTargets,
    AnonymousHyperlinks,
    IndirectHyperlinks,
    Footnotes,
    ExternalTargets,
]

_LONG_GAP = re.compile(r"(?<=\S {1000}) ++")
"""Blanks inside of a line beyond those that anyone writes: for each of a run, docutils looks
through the rest of it."""

_NEVER = 5
"""Above every level of docutils' messages."""

_BIBLIOGRAPHIC = frozenset(
    {
        "address", "author", "authors", "contact", "copyright", "date", "organization",
        "revision", "status", "version",
    }
)  # fmt: skip


def parse_restructured_text(path: str, text: str) -> ParsedDocument:
    """Parse a document; broken markup costs its structure, never its words."""
    document = _read(path, text)
    metadata = _take_metadata(document)
    builder = DocumentBuilder()
    render(document, builder)
    return builder.document(path, title=metadata.get("title"), metadata=metadata)


def _read(path: str, text: str) -> nodes.document:
    document = new_document(path, _settings(text))
    with tolerance():
        Parser().parse(_LONG_GAP.sub("", text), document)
    document.transformer.add_transforms(_LINKS_AND_FOOTNOTES)
    document.transformer.apply_transforms()
    expand_substitutions(document)
    return document


def _settings(text: str) -> Values:
    """Forbid docutils to read files, to print, and to give up."""
    settings = _DEFAULT_SETTINGS.copy()
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = settings.halt_level = _NEVER
    settings.warning_stream = False
    settings.smart_quotes = False
    settings.syntax_highlight = "none"
    settings.line_length_limit = len(text) + 1
    return settings


def _take_metadata(document: nodes.document) -> dict[str, str]:
    """Remove the fields at the very top, and those below the title that docutils knows."""
    first = next(_visible(document), None)
    if isinstance(first, nodes.section):
        after_title = next(_visible(first, start=1), None)
        if isinstance(after_title, nodes.field_list) and _BIBLIOGRAPHIC.issuperset(
            name.lower() for name in _fields(after_title)
        ):
            first = after_title
    if not isinstance(first, nodes.field_list):
        return {}
    first.parent.remove(first)
    return _fields(first)


def _visible(node: nodes.Element, start: int = 0) -> Iterator[nodes.Node]:
    invisible = (nodes.comment, nodes.substitution_definition, nodes.system_message, nodes.target)
    return (child for child in node.children[start:] if not isinstance(child, invisible))


def _fields(fields: nodes.field_list) -> dict[str, str]:
    return {
        inline_text(name): inline_text(body)
        for name, body in (field.children for field in fields.children)
    }
