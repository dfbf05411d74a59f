"""Collections: find, list, create."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, RowMapping, func, insert, select, text, update

from llmwiki.domain import Collection, CollectionId, EmbedderIdentity
from llmwiki.errors import ConfigurationError, UnknownNameError, UsageError
from llmwiki.store.corpus_tables import CollectionTable

DEFAULT_OWNER = "system"


def find_collection(connection: Connection, name: str, owner: str) -> Collection | None:
    """Return the owner's collection of that name, if there is one."""
    row = (
        connection.execute(
            select(CollectionTable).where(
                CollectionTable.name == name, CollectionTable.owner == owner
            )
        )
        .mappings()
        .one_or_none()
    )
    return _collection(row) if row else None


def select_collections(
    connection: Connection, *, name: str | None = None, owners: Sequence[str] | None = None
) -> tuple[Collection, ...]:
    """Return the collections of that name and of those owners, all where neither is given.

    Raises UnknownNameError when a name or owners are given and nothing matches; the message
    lists what there is.
    """
    query = select(CollectionTable).order_by(CollectionTable.name, CollectionTable.owner)
    if name is not None:
        query = query.where(CollectionTable.name == name)
    if owners is not None:
        query = query.where(CollectionTable.owner.in_(owners))
    found = tuple(_collection(row) for row in connection.execute(query).mappings())
    if not found and (name is not None or owners is not None):
        raise UnknownNameError(_no_such_collection(connection, name, owners))
    return found


def _no_such_collection(
    connection: Connection, name: str | None, owners: Sequence[str] | None
) -> str:
    """Tell what there is; who asks for certain owners is told nothing of others."""
    query = select(CollectionTable.owner, CollectionTable.name).order_by("owner", "name")
    if owners is not None:
        query = query.where(CollectionTable.owner.in_(owners))
    rows = connection.execute(query)
    known = ", ".join(f"{row.name} (owner {row.owner})" for row in rows)
    asked = "no collection" if name is None else f"no collection {name!r}"
    if owners is not None:
        asked += f" of owner {', '.join(owners)}"
        known = known or "none of theirs; `llmwiki status` lists all"
    return f"{asked}; known: {known or 'none yet; run `llmwiki ingest PATH --collection NAME`'}"


def create_collection(
    connection: Connection, name: str, owner: str, embedder: EmbedderIdentity
) -> Collection:
    """Create a collection whose vectors come from the given embedder.

    Raises UsageError for a name or an owner that is empty or cannot be printed on one line.
    """
    for what, value in (("collection", name), ("owner", owner)):
        if not value.strip() or not value.isprintable():
            raise UsageError(f"the name of the {what} is {value!r}; use printable characters")
    row = (
        connection.execute(
            insert(CollectionTable)
            .values(name=name, owner=owner, embedder=embedder.name, dimension=embedder.dimension)
            .returning(CollectionTable)
        )
        .mappings()
        .one()
    )
    return _collection(row)


def set_embedder(
    connection: Connection, collection: Collection, embedder: EmbedderIdentity
) -> None:
    """Switch the collection to another vector space."""
    connection.execute(
        update(CollectionTable)
        .where(CollectionTable.id == collection.id)
        .values(embedder=embedder.name, dimension=embedder.dimension)
    )


def note_ingest(connection: Connection, collection: Collection) -> None:
    """Record that the collection's documents were brought up to date now."""
    connection.execute(
        update(CollectionTable)
        .where(CollectionTable.id == collection.id)
        .values(ingested_at=func.now())
    )


def corpus_version(connection: Connection, collections: Sequence[Collection]) -> str:
    """Return a text that changes whenever one of the collections was ingested again."""
    rows = connection.execute(
        select(CollectionTable.id, CollectionTable.ingested_at)
        .where(CollectionTable.id.in_([collection.id for collection in collections]))
        .order_by(CollectionTable.id)
    )
    return " ".join(f"{row.id}:{row.ingested_at and row.ingested_at.isoformat()}" for row in rows)


def require_embedder(collection: Collection, embedder: EmbedderIdentity) -> None:
    """Raise ConfigurationError where the collection's vectors come from another embedder."""
    if collection.embedder != embedder:
        raise ConfigurationError(
            f"collection {collection.name!r} was embedded with {collection.embedder.name} "
            f"({collection.embedder.dimension} dimensions), but {embedder.name} "
            f"({embedder.dimension}) is configured; configure the former, or run "
            f"`llmwiki reembed --collection {collection.name}` to change over"
        )


def refresh_statistics(engine: Engine) -> None:
    """Have the planner look at the corpus as it is now, and tell it what indexes alone answer."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(
            text("VACUUM (ANALYZE, SKIP_LOCKED) document, chunk, embedding, term, posting")
        )


def _collection(row: RowMapping) -> Collection:
    return Collection(
        id=CollectionId(row["id"]),
        name=row["name"],
        owner=row["owner"],
        embedder=EmbedderIdentity(name=row["embedder"], dimension=row["dimension"]),
        text_search_config=row["text_search_config"],
    )
