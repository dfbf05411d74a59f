"""The rules for one statement, each a small function that returns what offends it, or None."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from llmwiki.config import GateLimits
from llmwiki.domain import Statement, StatementKind
from llmwiki.grounding.blocks import block_markup, moved_block, without_invisible
from llmwiki.grounding.evidence import (
    ChunkFacts,
    Evidence,
    content_stems,
    is_fence,
    occurrences,
    squeeze_row,
)
from llmwiki.grounding.language import foreign_script, foreign_words
from llmwiki.grounding.leaks import leaks
from llmwiki.grounding.markup import markup
from llmwiki.grounding.support import unsupported_details
from llmwiki.grounding.verbatim import missing_row, unknown_code, unknown_row
from llmwiki.text.preamble import looks_like_preamble

REASONS: Mapping[str, str] = {
    "empty": "a statement without a letter or a digit, or no statement at all",
    "no-citation": "it cites no chunk of its topic",
    "unknown-citation": "it cites a chunk that was not given",
    "repeated": "the page says it already, with the same citations",
    "too-long": "prose that is too long for one statement",
    "preamble": "the model talks to its user",
    "leak": "it names the chunks, the request or the rules",
    "block-markup": "a fence, heading, rule, quotation, table or footnote inside of prose",
    "markup": "HTML, an image, a link, a script or a turn of direction that no cited chunk has",
    "unsupported-detail": "a number, name or address that no cited chunk has",
    "foreign-script": "it is in another script than the chunks",
    "foreign-language": "it is in another language than the chunks",
    "unrelated": "it shares next to no words with the chunks that it cites",
    "code-not-verbatim": "a line of code that no cited chunk has",
    "table-not-verbatim": "a row of a table that no cited chunk has",
    "table-rows-missing": "a table of which rows are left out",
}
"""Why a statement is dropped, by code."""

Cited = Sequence[ChunkFacts]
Rule = Callable[[Statement, Cited, GateLimits], str | None]

_FEWEST_STEMS = 5
"""With fewer content words a share means nothing."""
_LONGEST_DETAIL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Offence:
    """A rule that a statement breaks, and what in it does."""

    reason: str
    detail: str


def find_offence(statement: Statement, evidence: Evidence, limits: GateLimits) -> Offence | None:
    """Return the first offence of a statement, or None.

    What stands in a cited chunk word for word is not held against the page, so that an
    extractive draft passes whole. Only a table must not be a part of the chunk's table, and
    no line break be put before what begins a block at the beginning of a line.
    """
    if (reason := _unfounded(statement, evidence)) is not None:
        return Offence(reason=reason, detail="")
    cited = evidence.of(statement.chunk_ids)
    verbatim = occurrences(statement.text, cited) > 0
    for reason, rule in (_VERBATIM_RULES if verbatim else _RULES)[statement.kind].items():
        detail = rule(statement, cited, limits)
        if detail is not None:
            return Offence(reason=reason, detail=detail[:_LONGEST_DETAIL])
    return None


def _unfounded(statement: Statement, evidence: Evidence) -> str | None:
    if not _content(statement).strip():
        return "empty"
    if not statement.chunk_ids:
        return "no-citation"
    return None if evidence.knows(statement.chunk_ids) else "unknown-citation"


def _content(statement: Statement) -> str:
    """Return the text without fence lines or the rule of a table."""
    lines = statement.text.split("\n")
    match statement.kind:
        case "prose":
            return statement.text
        case "code":
            return "\n".join(line for line in lines if not is_fence(line))
        case "table":
            return "".join(map(squeeze_row, lines))
        case _:
            assert_never(statement.kind)


def _empty(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del cited, limits
    return None if any(map(str.isalnum, _content(statement))) else ""


def _too_long(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del cited
    length = len(statement.text)
    return f"{length} characters" if length > limits.max_statement_characters else None


def _preamble(text: str, cited: Cited) -> str | None:
    del cited
    return text[:80] if looks_like_preamble(without_invisible(text)) else None


def _foreign_script(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    return foreign_script(statement.text, cited, limits.max_foreign_script_share)


def _unrelated(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    stems = content_stems(statement.text)
    known = frozenset[str]().union(*(chunk.stems for chunk in cited))
    share = len(stems & known) / max(1, len(stems))
    if len(stems) < _FEWEST_STEMS or share >= limits.min_support_share:
        return None
    return f"{share:.2f} of the words"


def _unsupported(text: str, cited: Cited) -> str | None:
    details = unsupported_details(text, [chunk.text for chunk in cited])
    return ", ".join(details) if details else None


def _on_text(check: Callable[[str, Cited], str | None]) -> Rule:
    """Return a check of the text alone, to which no limit applies, as a rule."""
    return lambda statement, cited, _limits: check(statement.text, cited)


_RULES: Mapping[StatementKind, Mapping[str, Rule]] = {
    "prose": {
        "empty": _empty,
        "too-long": _too_long,
        "preamble": _on_text(_preamble),
        "leak": _on_text(leaks),
        "block-markup": _on_text(block_markup),
        "markup": _on_text(markup),
        "foreign-script": _foreign_script,
        "foreign-language": _on_text(foreign_words),
        "unsupported-detail": _on_text(_unsupported),
        "unrelated": _unrelated,
    },
    "code": {"empty": _empty, "code-not-verbatim": _on_text(unknown_code)},
    "table": {
        "table-not-verbatim": _on_text(unknown_row),
        "table-rows-missing": _on_text(missing_row),
    },
}
_VERBATIM_RULES: Mapping[StatementKind, Mapping[str, Rule]] = {
    "prose": {"block-markup": _on_text(moved_block)},
    "code": {},
    "table": {"table-rows-missing": _on_text(missing_row)},
}
