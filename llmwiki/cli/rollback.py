"""`llmwiki rollback` and `llmwiki revisions`: the kept texts of a page, and a return to one."""

from dataclasses import asdict
from typing import Annotated

import typer

from jobs import exit_codes
from jobs.entry import DryRunOption, JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import moment, print_json, print_line, print_table, run
from llmwiki.cli.page import SlugArgument
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.compiler.rollback import Rollback, roll_back
from llmwiki.store.pages import PageRow, find_page
from llmwiki.store.pins import is_pinned
from llmwiki.store.revisions import RevisionSummary, list_revisions

RevisionArgument = Annotated[
    int | None,
    typer.Argument(min=1, help="A number that `revisions` lists; the one before the current."),
]


def command(
    slug: SlugArgument,
    revision: RevisionArgument = None,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Return a page to an earlier text, and keep it until its sources move."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
        done = roll_back(app.engine, chosen, app.embedder, slug, revision, write=not dry_run)
        if as_json:
            print_json(collection=chosen.name, dry_run=dry_run, **asdict(done))
        else:
            print_line(_sentence(done))
        return exit_codes.DONE

    run(work)


def list_command(
    slug: SlugArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the kept revisions of a page, the newest first."""

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            page = find_page(connection, chosen, slug)
            kept = list_revisions(connection, page.id)
            pinned = is_pinned(connection, page.id)
        if as_json:
            print_json(
                collection=chosen.name,
                slug=slug,
                current=page.revision,
                pinned=pinned,
                revisions=[asdict(each) for each in kept],
            )
        elif kept:
            print_table(
                ("revision", "compiled", "generator", "characters", "chunks", "state"),
                [_row(each, page, pinned=pinned) for each in kept],
            )
        else:
            print_line(f"page {slug} has no revisions")
        return exit_codes.DONE

    run(work)


def _sentence(done: Rollback) -> str:
    text = f"revision {done.restored}, compiled {moment(done.compiled_at)} by {done.generator}"
    if done.revision is None:
        return f"{done.slug} would return from revision {done.replaced} to {text}"
    return (
        f"{done.slug} is back at {text}; it is revision {done.revision} now, "
        "and pinned until its sources move"
    )


def _row(kept: RevisionSummary, page: PageRow, *, pinned: bool) -> tuple[str, ...]:
    state = []
    if kept.number == page.revision:
        state.append("current, pinned" if pinned else "current")
    if kept.restored_from is not None:
        state.append(f"the text of {kept.restored_from}")
    return (
        str(kept.number),
        moment(kept.compiled_at),
        kept.generator,
        str(kept.characters),
        str(kept.sources),
        "; ".join(state),
    )
