"""`llmwiki page` and `llmwiki pages`: one page to read, or the list of them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markdown import Markdown

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.documents import split_notes
from llmwiki.cli.output import (
    console,
    is_terminal,
    moment,
    print_json,
    print_line,
    print_table,
    printable,
    run,
)
from llmwiki.cli.page_history import show_refusals, show_revision
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.domain import Statement
from llmwiki.errors import UsageError
from llmwiki.store.page_lists import list_pages, sibling_pages
from llmwiki.store.pages import PageRow, find_page, statements_of

SlugArgument = Annotated[str, typer.Argument(help="The page's slug, as `pages` lists it.")]
StaleOption = Annotated[
    bool, typer.Option("--stale", help="Only stale pages, in the order in which they wait.")
]

RevisionOption = Annotated[
    int | None, typer.Option("--revision", min=1, help="Show this revision, which `revisions` has.")
]
RefusedOption = Annotated[
    bool, typer.Option("--refused", help="Show the last draft that the gate refused, and why.")
]


def show(
    slug: SlugArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    revision: RevisionOption = None,
    refused: RefusedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show a page with its citations; `overview` is the table of contents."""

    def work(app: App) -> int:
        if refused and revision is not None:
            raise UsageError("--refused and --revision show two different texts; pass one of them")
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            page = find_page(connection, chosen, slug)
            if refused:
                show_refusals(connection, chosen, page, as_json=as_json)
                return exit_codes.DONE
            if revision is not None:
                show_revision(connection, chosen, page, revision, as_json=as_json)
                return exit_codes.DONE
            statements = statements_of(connection, page.id)
            siblings = sibling_pages(connection, page.id)
        if as_json:
            print_json(collection=chosen.name, **_facts(page, statements, siblings))
        elif is_terminal():
            _render(page, siblings)
        else:
            print_line(as_markdown(page, siblings))
        return exit_codes.DONE

    run(work)


def list_command(
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    stale: StaleOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the pages with their slugs and titles."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            pages = list_pages(connection, chosen, stale_only=stale)
        if as_json:
            print_json(collection=chosen.name, pages=[asdict(page) for page in pages])
        else:
            print_table(
                ("slug", "title", "state"),
                [
                    (page.slug, page.title, ", ".join(page.stale_reasons) or "fresh")
                    for page in pages
                ],
            )
        return exit_codes.DONE

    run(work)


def as_markdown(page: PageRow, siblings: Sequence[tuple[str, str]]) -> str:
    """Return the page as one Markdown document."""
    return "\n\n".join(
        (f"# {page.title}", f"*{describe_state(page)}*", _body(page), *_see_also(siblings))
    )


def describe_state(page: PageRow) -> str:
    """Return in one line who wrote the page, when, and whether it can be relied on."""
    if page.compiled_at is None:
        facts = ["not compiled yet"]
    elif page.kind == "overview":
        facts = [f"table of contents of {moment(page.compiled_at)}"]
    else:
        facts = [
            f"revision {page.revision} by {page.generator}, {moment(page.compiled_at)}",
            f"{page.source_count} source chunks",
        ]
        if page.generator_kind == "extractive":
            facts.append("draft of verbatim sentences")
    if page.stale and page.compiled_at is not None:
        facts.append(f"STALE since {moment(page.stale_since)}: {', '.join(page.stale_reasons)}")
    elif page.pinned_at is not None:
        facts.append(f"pinned {moment(page.pinned_at)} until its sources move")
    if page.retired_at is not None:
        facts.append(f"retired {moment(page.retired_at)}")
    return " · ".join(facts)


def _body(page: PageRow) -> str:
    if page.compiled_at is None:
        return "Run `llmwiki drain` to compile it."
    if page.kind == "overview":
        return f"> {page.tldr}\n\n{page.body.rstrip()}"
    return page.body.rstrip()


def _see_also(siblings: Sequence[tuple[str, str]]) -> list[str]:
    if not siblings:
        return []
    links = "\n".join(f"- {title} (`{slug}`)" for slug, title in siblings)
    return [f"## See also\n\n{links}"]


def _render(page: PageRow, siblings: Sequence[tuple[str, str]]) -> None:
    text, notes = split_notes(_body(page))
    document = "\n\n".join((f"# {page.title}", f"*{describe_state(page)}*", text))
    screen = console()
    screen.print(Markdown(printable(document)))
    if notes:
        screen.print()
        screen.print(printable(notes), style="dim", soft_wrap=True)
    for part in _see_also(siblings):
        screen.print(Markdown(printable(part)))


def _facts(
    page: PageRow,
    statements: Sequence[tuple[str, str, Statement]],
    siblings: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    facts = asdict(page)
    del facts["collection_id"]
    return {
        **facts,
        "statements": [
            {"role": role, "heading": heading, **asdict(statement)}
            for role, heading, statement in statements
        ],
        "see_also": [{"slug": slug, "title": title} for slug, title in siblings],
    }
