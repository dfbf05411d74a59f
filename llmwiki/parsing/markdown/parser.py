"""Parses Markdown and MDX into sections and blocks."""

from collections.abc import Mapping
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from llmwiki.errors import DocumentError
from llmwiki.parsing.front_matter import split_front_matter
from llmwiki.parsing.markdown.blocks import BlockReader
from llmwiki.parsing.markdown.markup import to_commonmark
from llmwiki.parsing.markdown.tags import without_tags
from llmwiki.parsing.parsed import ParsedDocument

_DEEPEST_NESTING = 150


def parse_markdown(path: str, text: str) -> ParsedDocument:
    """Return the sections of a .md, .markdown or .mdx file with their text made readable.

    Raises:
        DocumentError: the front matter is broken, or the markup is nested without end.

    """
    unix_text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    metadata, body = split_front_matter(path, unix_text)
    try:
        source = to_commonmark(body, is_mdx=path.lower().endswith(".mdx"))
        outline = BlockReader(_create_parser().parse(source)).read()
    except RecursionError as error:
        raise DocumentError(
            path, "its markup is nested too deeply", "flatten its images, links or lists"
        ) from error
    return ParsedDocument(
        title=outline.title(_stated_title(metadata), path),
        sections=outline.sections(),
        metadata=metadata,
    )


def _stated_title(metadata: Mapping[str, Any]) -> object:
    title = metadata.get("title")
    return without_tags(title) if isinstance(title, str) else title


def _create_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST_NESTING})
    parser.enable(["table", "strikethrough"]).use(deflist_plugin).use(footnote_plugin)
    # Footnotes stay where they are defined, in the section that they belong to.
    parser.disable(["footnote_tail", "footnote_inline"])
    # Addresses are shown to readers as they were written, and none is followed.
    vars(parser).update(normalizeLink=str, normalizeLinkText=str, validateLink=bool)
    return parser
