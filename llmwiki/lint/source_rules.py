"""Rules over a page and the chunks that it was compiled from."""

from collections.abc import Iterator

from llmwiki.domain import ChunkId
from llmwiki.grounding.support import unsupported_details
from llmwiki.lint.excerpts import excerpt
from llmwiki.lint.remedies import DRAIN, SWEEP, recompile
from llmwiki.lint.rule import Violation, about, rule
from llmwiki.lint.wiki import Wiki
from llmwiki.store.lint_texts import PageText, SourceState

_NAMED = 3
"""Details that a message names before it only counts the rest."""


@rule("compile-drift", "error", "A page no longer says what its sources say.")
def compile_drift(wiki: Wiki) -> Iterator[Violation]:
    """Warn of drift that is queued, or that a pin allows; what the sweep missed is an error."""
    for page in wiki.compiled_from_sources():
        if page.stale:
            reasons = ", ".join(page.stale_reasons)
            state = f"is stale ({reasons}) and serves its last text"
            if page.quarantined:
                state = f"is stale ({reasons}), and the drain skips it after failed attempts"
            remedy = recompile(page.slug) if page.quarantined else DRAIN
            yield about(page, f"{state}; {remedy}", "warning")
        elif page.differences and page.recorded_sources:
            reasons = ", ".join(page.differences)
            if page.pinned:
                pinned = f"is pinned to a text that differs from its sources ({reasons})"
                yield about(page, f"{pinned}; {recompile(page.slug)}", "warning")
            else:
                yield about(page, f"differs from its sources ({reasons}) without a flag; {SWEEP}")


@rule("page-without-sources", "error", "A compiled page has no recorded sources.")
def page_without_sources(wiki: Wiki) -> Iterator[Violation]:
    """Find pages that could never become stale."""
    for page in wiki.compiled_from_sources():
        if not page.recorded_sources:
            yield about(page, f"has no recorded sources; {recompile(page.slug)}")


@rule("stale-tldr", "warning", "The summary of a stale page cites what changed or vanished.")
def stale_tldr(text: PageText) -> Iterator[Violation]:
    """Name the summary apart from its page: it is what a reader trusts first."""
    if not text.page.stale:
        return
    for statement in text.statements:
        states = {_state(text, id_) for id_ in statement.chunk_ids}
        if statement.role == "tldr" and states & {"changed", "gone"}:
            what = f"has a summary whose sources changed: {excerpt(statement.text)}"
            yield about(text.page, f"{what}; {DRAIN}")


@rule("unresolved-citation", "error", "A statement cites a chunk that its page does not have.")
def unresolved_citation(text: PageText) -> Iterator[Violation]:
    """Find citations that lead nowhere; on a page that is known as stale, only warn of them."""
    if not text.sources:
        return  # page-without-sources says so once.
    for statement in text.statements:
        states = {id_: _state(text, id_) for id_ in statement.chunk_ids}
        unknown = [id_ for id_, state in states.items() if state is None]
        gone = [id_ for id_, state in states.items() if state == "gone"]
        if unknown:
            cited = f"cites chunk {unknown[0]}, which it was not compiled from"
            remedy = recompile(text.page.slug)
            yield about(text.page, f"{cited}: {excerpt(statement.text)}; {remedy}")
        elif gone and text.page.stale:
            cited = f"cites chunk {gone[0]}, which is gone"
            yield about(text.page, f"{cited}: {excerpt(statement.text)}; {DRAIN}", "warning")


@rule("uncited-statement", "error", "A statement cites no chunk.")
def uncited_statement(text: PageText) -> Iterator[Violation]:
    """Find statements, the summary among them, that nobody could check."""
    for statement in text.statements:
        if not statement.chunk_ids:
            remedy = recompile(text.page.slug)
            yield about(text.page, f"cites nothing for {excerpt(statement.text)}; {remedy}")


@rule("unsupported-detail", "error", "A number, identifier or URL is not in the cited chunks.")
def unsupported_detail(text: PageText) -> Iterator[Violation]:
    """Compare with chunks as compiled only: of one that changed since, compile-drift tells."""
    for statement in text.statements:
        cited = [text.sources.get(id_) for id_ in statement.chunk_ids]
        sources = [source.text for source in cited if source and source.state == "same"]
        if not sources or len(sources) < len(cited):
            continue
        details = unsupported_details(statement.text, sources)
        if details:
            named = ", ".join(f"`{detail}`" for detail in details[:_NAMED])
            more = f" and {len(details) - _NAMED} more" if len(details) > _NAMED else ""
            what = f"says {named}{more}, which the cited chunks do not"
            remedy = recompile(text.page.slug)
            yield about(text.page, f"{what}: {excerpt(statement.text)}; {remedy}")


def _state(text: PageText, chunk_id: ChunkId) -> SourceState | None:
    source = text.sources.get(chunk_id)
    return source.state if source else None
