"""What `llmwiki search` and `llmwiki ask` share: options, the trace, passages as lines and JSON."""

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from llmwiki.bootstrap import App
from llmwiki.cli.output import print_problem, printable
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.context import Context, ContextBlock
from llmwiki.retrieval.events import Event, Trace
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.page_search import FoundStatement

EXCERPT_CHARACTERS = 320

QuestionArgument = Annotated[str, typer.Argument(help="What to look for, in your own words.")]
TraceOption = Annotated[
    bool,
    typer.Option("--trace", help="Tell every step on standard error: what ran, what it cost."),
]


class WikiChoice(StrEnum):
    """Whether pages of the wiki stand beside the passages."""

    GATE = "gate"
    ON = "on"
    OFF = "off"


WikiOption = Annotated[
    WikiChoice,
    typer.Option(
        "--wiki", help="gate: as its gate says (see `promote`); on: all the same; off: never."
    ),
]


def open_trace(app: App, *, shown: bool) -> Trace:
    """Return a trace that tells its events on standard error where that is wanted."""
    return Trace(app.clock, print_event) if shown else Trace(app.clock)


def print_event(event: Event) -> None:
    """Tell the end of a step in one line on standard error."""
    if event.status != "active":
        print(printable(event_line(event)), file=sys.stderr)  # noqa: T201 - the user's line


def event_line(event: Event) -> str:
    """Return an event as one line."""
    facts = event.facts()
    told = " ".join(
        f"{name}={_fact(value)}"
        for name, value in facts.get("detail", {}).items()
        if name != "kind" and value not in (None, (), [], "")
    )
    spent = " ".join(f"{name}={amount}" for name, amount in facts.get("usage", {}).items())
    why = ": ".join(filter(None, (event.reason or event.error, event.message)))
    parts = (f"{event.duration_ms or 0:.1f} ms", told, spent, why)
    return f"{event.step:<12} {event.status:<8} " + "; ".join(filter(None, parts))


def _fact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_fact, value))
    if isinstance(value, dict):
        # What it is about, and the first thing that is said of it.
        return ":".join(map(_fact, list(value.values())[:2]))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def tell_problems(context: Context) -> None:
    """Name on standard error what did not work, so that a thin result is not taken for all."""
    for event in context.events:
        if event.status == "error" or event.reason in {"other-embedder", "quota", "circuit-open"}:
            print_problem(f"{event.step} was left out: {event.message}")
    if context.missing_families:
        print_problem(f"no evidence was found for: {', '.join(context.missing_families)}")


def block_lines(block: ContextBlock, *, characters: int | None = EXCERPT_CHARACTERS) -> Text:
    """Return a block of a context as lines for people."""
    first = block.first
    whole = block.readable if characters is None else _excerpts(block, characters)
    lines = Text()
    lines.append(f"[{block.number}] {printable(block.citation)}", style="bold")
    lines.append(f"\n{_indented(printable(whole))}")
    told = [f"found by {', '.join(block.found_by)}", page_of(block)]
    told += [fact for fact in (first.authority_tier, first.version) if fact]
    lines.append(f"\n    {printable('; '.join(told))}\n", style="dim")
    return lines


def _excerpts(block: ContextBlock, characters: int) -> str:
    """Return the beginning of the text, below that of the header which belongs to it."""
    parts = filter(None, (block.table_header, block.text))
    return "\n".join(excerpt(part, characters) for part in parts)


def page_of(block: ContextBlock) -> str:
    """Return the page of the wiki that the block's passage belongs to."""
    first = block.first
    if first.page_slug is None:
        return "no page"
    if not first.page_compiled:
        return f"page {first.page_slug} (not compiled yet)"
    return f"page {first.page_slug}" + (" (stale)" if first.page_stale else "")


def anchor_lines(anchor: Anchor) -> str:
    """Return the overview of a collection as lines for people."""
    return f"{printable(anchor.title)}: {printable(anchor.summary)}\n"


def page_lines(page: ContextPage, context: Context) -> Text:
    """Return a page of the wiki, its fitting statements with the numbers of the blocks cited."""
    lines = Text()
    lines.append(f"page {page.page.slug}: {printable(page.page.title)}", style="bold")
    if page.page.stale:
        reasons = ", ".join(page.page.stale_reasons)
        lines.append(f" (stale: {reasons}; {len(page.affected)} of these statements affected)")
    heading = ""
    for statement in page.statements:
        numbers = cited_blocks(statement, context.blocks)
        if not numbers and not statement.affected:
            continue  # its passages had no room, so that nobody could check it here
        if statement.heading and statement.heading != heading:
            lines.append(f"\n  {printable(statement.heading)}:", style="italic")
        heading = statement.heading
        moved = " (its source moved since)" if statement.affected else ""
        cited = "".join(f" [{number}]" for number in numbers)
        lines.append(f"\n{_indented(printable(statement.text))}{cited}{moved}")
    lines.append("\n")
    return lines


def cited_blocks(statement: FoundStatement, blocks: Iterable[ContextBlock]) -> list[int]:
    """Return the numbers of the blocks that a statement of a page cites."""
    cited = set(statement.chunk_ids)
    return [block.number for block in blocks if cited.intersection(block.chunk_ids)]


def excerpt(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    cut = line[:characters]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + " …"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def context_facts(context: Context, *, trace: bool) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a context for JSON."""
    yield "question", context.question
    yield "route", context.route
    yield "embed_query", context.embed_query
    yield "has_evidence", context.has_evidence
    yield "missing_families", list(context.missing_families)
    yield "tokens", context.tokens
    yield "passages", [_block_facts(block) for block in context.blocks]
    yield "pages", [_page_facts(page) for page in context.pages]
    yield (
        "overviews",
        [
            {"collection": each.collection, "summary": each.summary, "contents": each.contents}
            for each in context.anchors
        ],
    )
    if trace:
        yield "events", [event.facts() for event in context.events]


def _block_facts(block: ContextBlock) -> dict[str, Any]:
    first = block.first
    return {
        "number": block.number,
        "chunk_ids": list(block.chunk_ids),
        "document": first.document_path,
        "breadcrumb": list(first.breadcrumb),
        "table_header": block.table_header,
        "text": block.text,
        "score": block.score,
        "found_by": list(block.found_by),
        "evidence_family": first.evidence_family,
        "authority_tier": first.authority_tier,
        "version": first.version,
        "page": first.page_slug,
        "page_compiled": first.page_compiled,
        "page_stale": first.page_stale,
    }


def _page_facts(page: ContextPage) -> dict[str, Any]:
    return {
        "slug": page.page.slug,
        "title": page.page.title,
        "tldr": page.page.tldr,
        "written_by": page.page.generator_kind,
        "stale": page.page.stale,
        "stale_reasons": list(page.page.stale_reasons),
        "score": page.score,
        "statements": [
            {
                "text": statement.text,
                "kind": statement.kind,
                "chunk_ids": list(statement.chunk_ids),
                "affected": statement.affected,
            }
            for statement in page.statements
        ],
    }
