"""`llmwiki quarantine`: pages that failed too often; list them, try again, or let them be."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from sqlalchemy import Connection

from jobs import exit_codes
from jobs.entry import CollectionOption, JsonOption, OwnerOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import moment, print_json, print_line, print_table, run
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.compiler.quarantine import drop, retry
from llmwiki.domain import Collection
from llmwiki.errors import UsageError
from llmwiki.store.collections import select_collections
from llmwiki.store.quarantine import QuarantinedPage, quarantined_pages

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pages that the drain passes over after too many failures.",
)

SlugsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="SLUG...", help="Pages that `list` names.")
]
DroppedArgument = Annotated[
    list[str], typer.Argument(metavar="SLUG...", help="Pages that `list` names.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Every page of the quarantine.")]


@app.command("list")
def list_command(
    *,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the quarantined pages, those that wait longest first."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = _collections(connection, collection, owner)
            pages = quarantined_pages(connection, chosen)
        if as_json:
            _print_pages("quarantined", pages)
        elif pages:
            print_table(
                ("collection", "page", "attempts", "since", "last error"),
                [
                    (
                        page.collection,
                        page.slug,
                        str(page.attempts),
                        moment(page.since),
                        page.last_error or "",
                    )
                    for page in pages
                ],
            )
        else:
            print_line("the quarantine is empty")
        return exit_codes.DONE

    run(work)


@app.command("retry")
def retry_command(
    slugs: SlugsArgument = None,
    *,
    everything: AllOption = False,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put pages back into the queue, with all their attempts; the next drain takes them."""

    def work(app: App) -> int:
        if everything == bool(slugs):
            raise UsageError("name the pages to try again, or pass --all, and not both")
        with app.engine.connect() as connection:
            if everything:
                chosen = _collections(connection, collection, owner)
            else:
                chosen = (select_one(connection, collection, owner),)
        pages = retry(app.engine, chosen, None if everything else slugs)
        if as_json:
            _print_pages("retried", pages)
        else:
            for page in pages:
                print_line(f"{page.slug} is in the queue again")
            if not pages:
                print_line("the quarantine is empty")
        return exit_codes.DONE

    run(work)


@app.command("drop")
def drop_command(
    slugs: DroppedArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop compiling pages: each keeps its last text until its sources move."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
        pages = drop(app.engine, [chosen], slugs)
        if as_json:
            _print_pages("dropped", pages)
        else:
            for page in pages:
                kept = "keeps its last text" if page.has_text else "stays without a text"
                print_line(f"{page.slug} {kept} until its sources move")
        return exit_codes.DONE

    run(work)


def _collections(
    connection: Connection, name: str | None, owner: str | None
) -> tuple[Collection, ...]:
    return select_collections(connection, name=name, owners=None if owner is None else [owner])


def _print_pages(key: str, pages: Sequence[QuarantinedPage]) -> None:
    print_json(**{key: [asdict(page) for page in pages]})
