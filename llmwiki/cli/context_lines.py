"""A context as lines for people: overviews, pages, blocks of chunks, and what is missing."""

from collections.abc import Iterable

from rich.text import Text

from llmwiki.cli.output import console, print_problem, printable
from llmwiki.retrieval.anchor import Anchor
from llmwiki.retrieval.context import Context, ContextBlock
from llmwiki.retrieval.wiki_pages import ContextPage
from llmwiki.store.page_search import FoundStatement

EXCERPT_CHARACTERS = 320


def tell_problems(context: Context) -> None:
    """Name on standard error what did not work, so that a thin result is not taken for all."""
    for event in context.events:
        if event.status == "error" or event.reason in {"other-embedder", "quota", "circuit-open"}:
            print_problem(f"{event.step} was left out: {event.message}")
    if context.missing_families:
        print_problem(f"no evidence was found for: {', '.join(context.missing_families)}")


def print_context(context: Context, blocks: Iterable[Text], *, pages_first: bool) -> None:
    """Print the overviews and pages of a context, and of its blocks these, as ``block_lines``."""
    screen = console()
    pages = [_page_lines(page, context) for page in context.pages]
    parts = (*pages, *blocks) if pages_first else (*blocks, *pages)
    for part in (*map(anchor_lines, context.anchors), *parts):
        screen.print(part, soft_wrap=True)


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
    """Return the page of the wiki that the block's chunk belongs to."""
    first = block.first
    if first.page_slug is None:
        return "no page"
    if not first.page_compiled:
        return f"page {first.page_slug} (not compiled yet)"
    return f"page {first.page_slug}" + (" (stale)" if first.page_stale else "")


def anchor_lines(anchor: Anchor) -> str:
    """Return the overview of a collection as lines for people."""
    return f"{printable(anchor.title)}: {printable(anchor.summary)}\n"


def _page_lines(page: ContextPage, context: Context) -> Text:
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
            continue  # its chunks had no room, so that nobody could check it here
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
