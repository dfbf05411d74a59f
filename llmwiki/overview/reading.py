"""Reads the overview: the contents page of each collection, and how far it can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from llmwiki.domain import Collection
from llmwiki.store import collections, contents, pages
from llmwiki.store.contents import Coverage
from llmwiki.store.pages import PageRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The table of contents of a collection with its coverage."""

    collection: Collection
    page: PageRow
    coverage: Coverage


def get_overview(engine: Engine, owner_ids: Sequence[str]) -> tuple[Overview, ...]:
    """Return the overviews of the owners' collections, by name; one never ingested has none.

    Raises UnknownNameError when none of the owners has a collection.
    """
    with engine.connect() as connection:
        owned = collections.select_collections(connection, owners=owner_ids)
        found = []
        for collection in owned:
            page = pages.find_overview(connection, collection)
            if page is not None:
                coverage = contents.coverage(connection, collection)
                found.append(Overview(collection=collection, page=page, coverage=coverage))
    return tuple(found)
