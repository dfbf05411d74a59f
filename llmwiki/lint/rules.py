"""The registry of rules."""

from collections.abc import Mapping
from typing import Any

from llmwiki.lint.index_rules import (
    missing_embedding,
    missing_search_vector,
    wrong_sized_embedding,
)
from llmwiki.lint.rule import Rule
from llmwiki.lint.source_rules import (
    compile_drift,
    page_without_sources,
    stale_tldr,
    uncited_statement,
    unresolved_citation,
    unsupported_detail,
)
from llmwiki.lint.structure_rules import (
    broken_wikilink,
    duplicate_slug,
    duplicate_title,
    never_compiled,
    orphan_page,
    oversized_page,
    topic_without_page,
)
from llmwiki.lint.text_rules import (
    broken_wikilink_in_text,
    empty_section,
    fenced_page,
    markup_residue,
    model_preamble,
)
from llmwiki.lint.wiki import Wiki
from llmwiki.store.lint_texts import PageText

WIKI_RULES: tuple[Rule[Wiki], ...] = (
    orphan_page,
    broken_wikilink,
    topic_without_page,
    never_compiled,
    compile_drift,
    page_without_sources,
    oversized_page,
    duplicate_slug,
    duplicate_title,
    missing_embedding,
    wrong_sized_embedding,
    missing_search_vector,
)
"""Rules that see the wiki whole, without its texts."""

TEXT_RULES: tuple[Rule[PageText], ...] = (
    stale_tldr,
    unresolved_citation,
    uncited_statement,
    unsupported_detail,
    empty_section,
    model_preamble,
    fenced_page,
    markup_residue,
    broken_wikilink_in_text,
)
"""Rules that see one compiled page at a time, with its statements and sources."""

_ALL: tuple[Rule[Any], ...] = (*WIKI_RULES, *TEXT_RULES)

RULES: Mapping[str, Rule[Any]] = {rule.code: rule for rule in _ALL}
"""Every rule by its code."""
