"""The figures that words are weighed by are those that counting gives, whatever happened."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.command import downgrade, upgrade
from sqlalchemy import Engine, text

from llmwiki.domain import Collection, DocumentId, EmbedderIdentity
from llmwiki.store import chunks, collections, documents, migrations
from llmwiki.store.chunks import ChunkValues
from tests.support.documents import plain_document
from tests.support.wiki import Wiki

KEPT = {
    "extent": """
        SELECT collection_id, chunks, length FROM corpus_extent WHERE chunks <> 0 ORDER BY 1
    """,
    "terms": "SELECT collection_id, lexeme, frequency FROM term ORDER BY 1, 2",
    "postings": """
        SELECT collection_id, lexeme, chunk_id, frequency, length FROM posting ORDER BY 1, 2, 3
    """,
}
COUNTED = {
    "extent": """
        SELECT collection_id, count(*),
               coalesce(sum((SELECT sum(cardinality(positions)) FROM unnest(lexemes))), 0)
        FROM chunk WHERE parent_id IS NOT NULL GROUP BY 1 ORDER BY 1
    """,
    "terms": """
        SELECT collection_id, w.lexeme COLLATE "C", count(*)
        FROM chunk CROSS JOIN LATERAL unnest(lexemes) AS w
        WHERE parent_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
    """,
    "postings": """
        SELECT collection_id, w.lexeme COLLATE "C", id, cardinality(w.positions),
               sum(cardinality(w.positions)) OVER (PARTITION BY id)
        FROM chunk CROSS JOIN LATERAL unnest(lexemes) AS w
        WHERE parent_id IS NOT NULL ORDER BY 1, 2, 3
    """,
}
WORDS = (
    *(
        "pump",
        "valve",
        "gear",
        "wheel",
        "lever",
        "piston",
        "crank",
        "rotor",
        "the",
        "of",
        "a",
        "12",
    ),
    *("v1.2", "max_age", "co-wrote", "1564-1616", "example.com/a/b", "it's", "3.14", "`<T>`"),
)


def rows(engine: Engine, queries: dict[str, str]) -> dict[str, list[tuple[object, ...]]]:
    with engine.connect() as connection:
        return {
            name: [tuple(row) for row in connection.execute(text(query))]
            for name, query in queries.items()
        }


def assert_kept_right(engine: Engine) -> None:
    assert rows(engine, KEPT) == rows(engine, COUNTED)


def execute(engine: Engine, statement: str) -> None:
    with engine.connect() as connection:
        connection.execute(text(statement))
        connection.commit()


def document(source: random.Random) -> str:
    sections = [
        f"## {' '.join(source.choices(WORDS, k=2))}\n\n"
        + "\n\n".join(
            " ".join(source.choices(WORDS, k=source.randint(1, 120))) + "."
            for _ in range(source.randint(0, 3))
        )
        for _ in range(source.randint(1, 4))
    ]
    return f"# {source.choice(WORDS)}\n\n" + "\n\n".join(sections) + "\n"


def reflowed(content: str) -> str:
    return "\n".join(
        line if line.startswith("#") else line.replace(" ", "\n", 3)
        for line in content.splitlines()
    )


def change(source: random.Random, files: dict[str, str]) -> None:
    """Add, edit, reflow, move or remove a file."""
    path = source.choice(sorted(files)) if files else "a.md"
    name = f"{source.choice('abcdefgh')}/{source.choice('xyz')}.md"
    match source.randrange(6):
        case 0 | 1:
            files[name] = document(source)
        case 2:
            files[path] = files.get(path, "# A\n") + document(source).replace("# ", "### ")
        case 3 if path in files:
            files[path] = reflowed(files[path])
        case 4 if path in files:
            files[name] = files.pop(path)
        case _ if len(files) > 1:
            del files[path]
        case _:
            files[name] = document(source)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_sequence_of_ingests_the_kept_figures_are_the_counted_ones(
    wiki: Wiki, seed: int
) -> None:
    source = random.Random(seed)  # noqa: S311 - not for secrets
    files = {"a.md": document(source)}
    for _ in range(8):
        for _ in range(source.randint(1, 3)):
            change(source, files)
        wiki.ingest(files, allow_shrink=True)
        assert_kept_right(wiki.engine)
    assert rows(wiki.engine, KEPT)["terms"]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM document WHERE path = 'a.md'",
        "DELETE FROM collection",
        "DELETE FROM chunk WHERE parent_id IS NULL AND position = 0",
        "UPDATE chunk SET lexemes = NULL",
        "UPDATE chunk SET lexemes = to_tsvector('simple', 'pump pump gear') WHERE position = 1",
        "UPDATE chunk SET parent_id = NULL",
        "UPDATE chunk SET position = position + 1, text = upper(text)",
    ],
)
def test_whoever_changes_chunks_the_figures_follow(wiki: Wiki, statement: str) -> None:
    source = random.Random(1)  # noqa: S311 - not for secrets
    wiki.ingest({"a.md": document(source), "b.md": document(source)})
    execute(wiki.engine, statement)
    assert_kept_right(wiki.engine)


def test_a_document_of_many_words_is_forgotten_in_linear_time(wiki: Wiki) -> None:
    """Word by word this is half a second's work, and each word with each posting is half a minute.

    The planner knows nothing of postings that were just written.
    """
    words = " ".join(f"word{number}" for number in range(10_000))
    wiki.ingest({"a.md": f"# A\n\n{words}\n", "b.md": "# B\n\nSmall.\n"})
    with wiki.engine.connect() as connection:
        connection.execute(text("SET LOCAL statement_timeout = '10s'"))
        connection.execute(text("DELETE FROM document WHERE path = 'a.md'"))
        connection.commit()
    assert_kept_right(wiki.engine)


def test_a_collection_that_goes_takes_its_figures_and_no_others(wiki: Wiki) -> None:
    source = random.Random(2)  # noqa: S311 - not for secrets
    other = Wiki(wiki.engine, wiki.folder, name="other")
    wiki.ingest({"a.md": document(source)})
    other.ingest({"a.md": document(source), "b.md": document(source)})
    execute(wiki.engine, "DELETE FROM collection WHERE name = 'docs'")
    assert_kept_right(wiki.engine)
    assert len({row[0] for row in rows(wiki.engine, KEPT)["terms"]}) == 1


def test_the_migration_counts_what_is_there_already(wiki: Wiki) -> None:
    source = random.Random(3)  # noqa: S311 - not for secrets
    wiki.ingest({"a.md": document(source), "b.md": document(source)})
    before = rows(wiki.engine, KEPT)
    config = migrations._config()
    with wiki.engine.connect() as connection:
        config.attributes["connection"] = connection
        downgrade(config, "0004")
        upgrade(config, "head")
        connection.commit()
    assert rows(wiki.engine, KEPT) == before
    wiki.ingest({"a.md": document(source)}, allow_shrink=True)
    assert_kept_right(wiki.engine)


def collection_of(engine: Engine, name: str) -> Collection:
    with engine.connect() as connection:
        identity = EmbedderIdentity(name="none", dimension=1)
        created = collections.create_collection(connection, name, "system", identity)
        connection.commit()
    return created


def add_document(engine: Engine, collection: Collection, path: str, words: str) -> DocumentId:
    """Write a document of one chunk in the transaction that an ingest would use."""
    with engine.connect() as connection:
        values = plain_document(path)
        document_id = documents.save_document(connection, collection, values, None)
        section, chunk = (
            ChunkValues(
                position=position,
                breadcrumb=(),
                text=words,
                content_hash="",
                token_count=1,
                search_text=search_text,
            )
            for position, search_text in enumerate((None, words))
        )
        [parent_id] = chunks.insert_chunks(connection, collection, document_id, [(None, section)])
        chunks.insert_chunks(connection, collection, document_id, [(parent_id, chunk)])
        connection.commit()
    return document_id


def test_ingests_of_two_collections_do_not_wait_for_each_other(engine: Engine) -> None:
    first, second = collection_of(engine, "first"), collection_of(engine, "second")
    for collection in (first, second):
        add_document(engine, collection, "a.md", "pump valve")
    with engine.connect() as open_transaction:
        open_transaction.execute(
            text("UPDATE chunk SET lexemes = 'pump:1,2' WHERE collection_id = :id"),
            {"id": first.id},
        )
        with engine.connect() as connection:
            connection.execute(text("SET lock_timeout = '1s'"))
            connection.execute(
                text("UPDATE chunk SET lexemes = 'pump:1' WHERE collection_id = :id"),
                {"id": second.id},
            )
            connection.commit()
        open_transaction.commit()


def test_writers_of_one_collection_at_once_lose_no_count_and_never_deadlock(
    engine: Engine,
) -> None:
    collection = collection_of(engine, "shared")

    def write(worker: int) -> None:
        source = random.Random(worker)  # noqa: S311 - not for secrets
        for number in range(12):
            words = " ".join(source.choices(WORDS, k=30))
            document_id = add_document(engine, collection, f"{worker}-{number}.md", words)
            if number % 3 == 0:
                with engine.connect() as connection:
                    documents.delete_document(connection, document_id)
                    connection.commit()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert_kept_right(engine)
