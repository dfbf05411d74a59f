"""Which collection a command that reads is about."""

from typing import Annotated

import typer
from sqlalchemy import Connection

from llmwiki.domain import Collection
from llmwiki.errors import UsageError
from llmwiki.store.collections import select_collections

OneCollectionOption = Annotated[
    str | None,
    typer.Option("--collection", help="Which collection; not needed where there is only one."),
]
OneOwnerOption = Annotated[
    str | None,
    typer.Option("--owner", help="Whose collection; not needed where the name is unique."),
]
AskedCollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Ask this collection only; otherwise all.")
]
AskedOwnersOption = Annotated[
    list[str] | None,
    typer.Option("--owner", help="Ask this owner's collections only; may be repeated."),
]


def select_one(connection: Connection, name: str | None, owner: str | None) -> Collection:
    """Return the one collection that is meant.

    Raises UnknownNameError or UsageError, with the names there are, when none or several match.
    """
    owners = None if owner is None else [owner]
    found = select_collections(connection, name=name, owners=owners)
    if len(found) == 1:
        return found[0]
    if not found:
        whose = "" if owner is None else f" of owner {owner!r}"
        raise UsageError(
            f"there is no collection{whose} yet; run `llmwiki ingest PATH --collection NAME`"
        )
    listed = ", ".join(f"{collection.name} (owner {collection.owner})" for collection in found)
    option = "--collection" if name is None else "--owner"
    raise UsageError(f"several collections match: {listed}; choose with {option}")
