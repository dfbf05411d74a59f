"""Rules over the statements of a page: what is empty, and what never should have been text."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from llmwiki.lint.excerpts import excerpt
from llmwiki.lint.remedies import recompile
from llmwiki.lint.rule import Violation, about, rule
from llmwiki.lint.wikilinks import prose_link_targets
from llmwiki.store.lint_texts import PageText, StatementFacts
from llmwiki.text.code_spans import without_code_spans
from llmwiki.text.hashing import normalise
from llmwiki.text.preamble import looks_like_preamble

_FENCES = ("```", "~~~")
_ERROR_PAGES = (
    "Error parsing web page",
    "Just a moment...",
    "Checking your browser before accessing",
    "Enable JavaScript and cookies to continue",
    "Please enable JavaScript",
    "You need to enable JavaScript",
    "Attention Required! | Cloudflare",
)
_RESIDUE = re.compile(r"\{\{[<%]|[>%]\}\}|<!--|&nbsp;|\ufffd|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@rule("empty-section", "error", "A page, its summary or one of its sections has no text.")
def empty_section(text: PageText) -> Iterator[Violation]:
    """Report a page without any text once, not once a section."""
    remedy = recompile(text.page.slug)
    if not any(
        _says_something([statement]) for statement in text.statements if statement.role == "tldr"
    ):
        yield about(text.page, f"has no summary; {remedy}")
    body = [statement for statement in text.statements if statement.role == "body"]
    if not _says_something(body):
        yield about(text.page, f"has no statements; {remedy}")
        return
    for _, section in groupby(body, key=lambda statement: statement.section):
        statements = list(section)
        heading = statements[0].heading.strip()
        if heading and not _says_something(statements):
            yield about(text.page, f"has nothing under {excerpt(heading)}; {remedy}")


@rule("model-preamble", "error", "A page begins with what a model says to its user.")
def model_preamble(text: PageText) -> Iterator[Violation]:
    """Spare documentation that says "Sure!" itself; then a cited chunk has the words."""
    for role in ("tldr", "body"):
        first = next((item for item in text.statements if item.role == role), None)
        if first is None or first.kind != "prose" or not looks_like_preamble(first.text):
            continue
        if not _is_verbatim(text, first):
            remedy = recompile(text.page.slug)
            yield about(text.page, f"begins as a model talks: {excerpt(first.text)}; {remedy}")


@rule("fenced-page", "error", "Prose has the mark of a code fence that no source has.")
def fenced_page(text: PageText) -> Iterator[Violation]:
    """Find answers that a model wrapped in a fence, or of whose fence one half is left."""
    for statement in text.statements:
        marks = [mark for mark in _FENCES if mark in statement.text]
        if statement.kind != "prose" or not marks:
            continue
        if statement.text.lstrip().startswith(_FENCES):
            at_fault = not _is_verbatim(text, statement)
        else:
            at_fault = not any(mark in cited for mark in marks for cited in _cited(text, statement))
        if at_fault:
            what = f"has a code fence in prose: {excerpt(statement.text)}"
            yield about(text.page, f"{what}; {recompile(text.page.slug)}")


@rule("markup-residue", "warning", "Prose has the traces of a scraper or a template.")
def markup_residue(text: PageText) -> Iterator[Violation]:
    """Look at verbatim text too: what a scraper left is as wrong in the source."""
    for statement in text.statements:
        if statement.kind == "prose" and _is_residue(statement.text):
            what = f"has the residue of a scraper or a template: {excerpt(statement.text)}"
            yield about(text.page, f"{what}; remove it from the source, then run `llmwiki ingest`")


@rule("broken-wikilink", "error", "A link leads to a page that is retired or does not exist.")
def broken_wikilink_in_text(text: PageText) -> Iterator[Violation]:
    """Find links in the body: a page's own links stand beside it, and none of them in its text."""
    for target in sorted(set(prose_link_targets(text.body)) - text.live_slugs):
        remedy = recompile(text.page.slug)
        yield about(text.page, f"has a link to {excerpt(target)}, which is no live page; {remedy}")


def _says_something(statements: Sequence[StatementFacts]) -> bool:
    return any(statement.text.strip() for statement in statements)


def _is_residue(text: str) -> bool:
    if text.lstrip().startswith(_ERROR_PAGES):
        return True
    return _RESIDUE.search(without_code_spans(text)) is not None


def _is_verbatim(text: PageText, statement: StatementFacts) -> bool:
    wanted = normalise(statement.text)
    return any(wanted in normalise(cited) for cited in _cited(text, statement))


def _cited(text: PageText, statement: StatementFacts) -> list[str]:
    return [text.sources[id_].text for id_ in statement.chunk_ids if id_ in text.sources]
