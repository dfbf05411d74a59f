"""`llmwiki promote`: let the wiki of a collection stand beside its chunks."""

from typing import Annotated

import typer

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import print_json, print_line, run
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.store import promotions

RevokeOption = Annotated[
    bool, typer.Option("--revoke", help="Take the wiki off the path of questions again.")
]


def command(
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    revoke: RevokeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Let pages answer beside chunks, while lint is recent and green.

    The gate closes by itself when the last lint is too old or found an error, and opens again
    when a newer one is green; `status` tells how it stands.
    """

    def work(app: App) -> int:
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            if revoke:
                promotions.demote(connection, chosen)
            else:
                promotions.promote(connection, chosen)
            gate = promotions.wiki_gate(
                connection, chosen, max_age=app.settings.retrieval.lint_max_age
            )
            connection.commit()
        if as_json:
            print_json(
                collection=chosen.name,
                owner=chosen.owner,
                promoted_at=gate.promoted_at,
                gate={"open": gate.is_open, "reason": gate.reason, "message": gate.message},
            )
        else:
            done = "is not promoted any more" if revoke else "is promoted"
            print_line(f"the wiki of {chosen.name} {done}")
            print_line(f"gate {'open' if gate.is_open else 'closed'}: {gate.message}")
        return exit_codes.DONE

    run(work)
