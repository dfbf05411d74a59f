"""`llmwiki search`: passages that answer a question, with the pages that they belong to."""

from typing import Annotated, Any

import typer
from rich.text import Text

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import console, print_json, print_problem, printable, run
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.retrieval.service import Hit, SearchResult, TierReport, search_passages
from llmwiki.store.search import FoundPassage

EXCERPT_CHARACTERS = 320

QuestionArgument = Annotated[str, typer.Argument(help="What to look for, in your own words.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100, help="Most passages shown.")]


def command(
    question: QuestionArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    limit: LimitOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Find passages by meaning, by words and by identifiers, and name their pages."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
        result = search_passages(app.engine, app.embedder, chosen, question, limit=limit)
        if as_json:
            print_json(
                collection=chosen.name,
                question=result.question,
                tiers=[_tier_facts(tier) for tier in result.tiers],
                hits=[_hit_facts(hit) for hit in result.hits],
            )
        else:
            _print(result)
        return exit_codes.DONE

    run(work)


def _print(result: SearchResult) -> None:
    for tier in result.tiers:
        if tier.skipped and tier.name != "identifiers":
            print_problem(f"{tier.name} search was left out: {tier.skipped}")
    if not result.hits:
        print_problem("no passage was found")
    screen = console()
    for number, hit in enumerate(result.hits, start=1):
        screen.print(_described(number, hit), soft_wrap=True)


def _described(number: int, hit: Hit) -> Text:
    passage = hit.passage
    ranks = ", ".join(f"{name} {rank}" for name, rank in hit.fused.ranks.items())
    lines = Text()
    lines.append(f"{number}. {printable(place_of(passage))}", style="bold")
    lines.append(f"\n   {printable(excerpt(passage.text))}")
    lines.append(f"\n   found by: {ranks}; {_page(passage)}\n", style="dim")
    return lines


def _page(passage: FoundPassage) -> str:
    if passage.page_slug is None:
        return "no page"
    if not passage.page_compiled:
        return f"page {passage.page_slug} (not compiled yet)"
    return f"page {passage.page_slug}" + (" (stale)" if passage.page_stale else "")


def place_of(passage: FoundPassage) -> str:
    """Return the document and the headings above the passage."""
    return " > ".join((passage.document_path, *passage.breadcrumb))


def excerpt(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    cut = line[:characters]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + " …"


def _tier_facts(tier: TierReport) -> dict[str, Any]:
    return {
        "name": tier.name,
        "found": tier.found,
        "skipped": tier.skipped,
        "uninformative": tier.uninformative,
    }


def _hit_facts(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "chunk_id": passage.id,
        "score": hit.fused.score,
        "ranks": dict(hit.fused.ranks),
        "document": passage.document_path,
        "breadcrumb": list(passage.breadcrumb),
        "text": passage.text,
        "page": passage.page_slug,
        "page_title": passage.page_title,
        "page_compiled": passage.page_compiled,
        "page_stale": passage.page_stale,
    }
