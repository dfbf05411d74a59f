"""The rules for one statement, each a small function that returns what offends it, or None."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from llmwiki.compiler.gate_blocks import (
    block_markup,
    foreign_target,
    moved_block,
    without_invisible,
)
from llmwiki.compiler.gate_evidence import (
    Evidence,
    PassageFacts,
    content_stems,
    is_fence,
    occurrences,
    squeeze,
    squeeze_row,
)
from llmwiki.compiler.gate_language import foreign_script, foreign_words
from llmwiki.config import GateLimits
from llmwiki.domain import Statement, StatementKind
from llmwiki.text.code_spans import without_code_spans
from llmwiki.text.hashing import normalise
from llmwiki.text.preamble import looks_like_preamble
from llmwiki.text.support import unsupported_details

REASONS: Mapping[str, str] = {
    "empty": "a statement without a letter or a digit, or no statement at all",
    "no-citation": "it cites no passage of its topic",
    "unknown-citation": "it cites a passage that was not given",
    "repeated": "the page says it already, with the same citations",
    "too-long": "prose that is too long for one statement",
    "preamble": "the model talks to its user",
    "leak": "it names the passages, the request or the rules",
    "block-markup": "a fence, heading, rule, quotation, table or footnote inside of prose",
    "markup": "HTML, an image, a link, a script or a turn of direction that no cited passage has",
    "unsupported-detail": "a number, name or address that no cited passage has",
    "foreign-script": "it is in another script than the passages",
    "foreign-language": "it is in another language than the passages",
    "unrelated": "it shares next to no words with the passages that it cites",
    "code-not-verbatim": "a line of code that no cited passage has",
    "table-not-verbatim": "a row of a table that no cited passage has",
    "table-rows-missing": "a table of which rows are left out",
}
"""Why a statement is dropped, by code."""

Cited = Sequence[PassageFacts]
Rule = Callable[[Statement, Cited, GateLimits], str | None]

_FEWEST_STEMS = 5
"""With fewer content words a share means nothing."""
_LONGEST_DETAIL = 200
_LABEL = re.compile(r"\bc\d{1,4}\b")
_BOUNDARY = re.compile(r"\b(?:BEGIN |END )?PASSAGE c\d|(?:---|===) (?:END|PASSAGE|TOPIC)\b")
_PHRASE = re.compile(
    r"\bas (?:requested|instructed|you asked)\b"
    r"|\b(?:the|these|this) (?:provided |given |supplied |above )?passages?\b"
    r"|\b(?:provided|given|supplied) (?:context|sources?|excerpts?|documentation)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"</?(?!https?:)[A-Za-z][^<>\n]{0,200}>?|<!--|<[!?][A-Za-z\[]|!\[|\b(?:javascript|vbscript):"
    r"|\bdata:text/",
    re.IGNORECASE,
)


_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offence:
    """A rule that a statement breaks, and what in it does."""

    reason: str
    detail: str


def find_offence(statement: Statement, evidence: Evidence, limits: GateLimits) -> Offence | None:
    """Return the first offence of a statement, or None.

    What stands in a cited passage word for word is not held against the page, so that an
    extractive draft passes whole. Only a table must not be a part of the passage's table, and
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


def leaks(text: str, cited: Cited) -> str | None:
    """Find a label, a boundary or a phrase that only the request can have put there."""
    text = without_invisible(text)
    for expression in (_LABEL, _BOUNDARY, _PHRASE):
        for match in expression.finditer(text):
            if not _in_sources(match[0], cited):
                return match[0]
    return None


def markup(text: str, cited: Cited) -> str | None:
    """Find a tag, image, script address, link or turn of direction that no passage has.

    A tag that the passages have in code only is none that they have.
    """
    for turn in _DIRECTION.findall(text):
        if not _in_sources(turn, cited):
            return f"U+{ord(turn):04X}"
    prose = without_code_spans(text)
    for match in _MARKUP.finditer(prose):
        wanted = normalise(match[0]).casefold()
        is_tag = wanted.startswith("<")
        if not any(wanted in (each.live if is_tag else each.folded) for each in cited):
            return match[0]
    return foreign_target(prose, cited)


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


def _preamble(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del cited, limits
    return statement.text[:80] if looks_like_preamble(without_invisible(statement.text)) else None


def _leak(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    return leaks(statement.text, cited)


def _block_markup(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    return block_markup(statement.text, cited)


def _moved_block(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    return moved_block(statement.text, cited)


def _markup(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    return markup(statement.text, cited)


def _unsupported(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    details = unsupported_details(statement.text, [passage.text for passage in cited])
    return ", ".join(details) if details else None


def _foreign_script(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    return foreign_script(statement.text, cited, limits.max_foreign_script_share)


def _foreign_language(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    return foreign_words(statement.text, cited)


def _unrelated(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    stems = content_stems(statement.text)
    known = frozenset[str]().union(*(passage.stems for passage in cited))
    share = len(stems & known) / max(1, len(stems))
    if len(stems) < _FEWEST_STEMS or share >= limits.min_support_share:
        return None
    return f"{share:.2f} of the words"


def _code_not_verbatim(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    lines = [line for line in statement.text.split("\n") if line.strip() and not is_fence(line)]
    return _first_unknown(lines, frozenset().union(*(passage.lines for passage in cited)))


def _first_unknown(lines: Sequence[str], known: frozenset[str]) -> str | None:
    return next((line for line in lines if squeeze(line) not in known), None)


def _table_not_verbatim(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    del limits
    known = {row for passage in cited for rows in passage.table_rows for row in rows}
    lines = [line for line in statement.text.split("\n") if line.strip()]
    return next((line for line in lines if (row := squeeze_row(line)) and row not in known), None)


def _table_rows_missing(statement: Statement, cited: Cited, limits: GateLimits) -> str | None:
    """Find a row that is left out, unless one of the cited tables with this header is whole."""
    del limits
    present = [row for line in statement.text.split("\n") if (row := squeeze_row(line))]
    missing = [
        [row for row in rows if row not in set(present)]
        for passage in cited
        for rows in passage.table_rows
        if rows[:1] == tuple(present[:1])
    ]
    return missing[0][0] if missing and all(missing) else None


def _in_sources(text: str, cited: Cited) -> bool:
    wanted = text.casefold()
    return any(wanted in passage.folded for passage in cited)


_RULES: Mapping[StatementKind, Mapping[str, Rule]] = {
    "prose": {
        "empty": _empty,
        "too-long": _too_long,
        "preamble": _preamble,
        "leak": _leak,
        "block-markup": _block_markup,
        "markup": _markup,
        "foreign-script": _foreign_script,
        "foreign-language": _foreign_language,
        "unsupported-detail": _unsupported,
        "unrelated": _unrelated,
    },
    "code": {"empty": _empty, "code-not-verbatim": _code_not_verbatim},
    "table": {
        "table-not-verbatim": _table_not_verbatim,
        "table-rows-missing": _table_rows_missing,
    },
}
_VERBATIM_RULES: Mapping[StatementKind, Mapping[str, Rule]] = {
    "prose": {"block-markup": _moved_block},
    "code": {},
    "table": {"table-rows-missing": _table_rows_missing},
}
