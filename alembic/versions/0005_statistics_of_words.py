"""Frequencies and lengths that words are weighed by, kept by triggers on the passages."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# A passage that keeps its lexemes is in none of these, wherever it is moved.
DIFFERS = """
(o.lexemes IS DISTINCT FROM n.lexemes OR o.collection_id <> n.collection_id
 OR (o.parent_id IS NULL) <> (n.parent_id IS NULL))
"""
BROUGHT = """
SELECT id, collection_id, lexemes, 1 AS sign FROM new_chunk WHERE parent_id IS NOT NULL
"""
TAKEN = """
SELECT id, collection_id, lexemes, -1 AS sign FROM old_chunk WHERE parent_id IS NOT NULL
"""
REWRITTEN = f"""
SELECT o.id, o.collection_id, o.lexemes, -1 AS sign
FROM old_chunk o JOIN new_chunk n ON n.id = o.id
WHERE o.parent_id IS NOT NULL AND {DIFFERS}
UNION ALL
SELECT n.id, n.collection_id, n.lexemes, 1 AS sign
FROM old_chunk o JOIN new_chunk n ON n.id = o.id
WHERE n.parent_id IS NOT NULL AND {DIFFERS}
"""  # noqa: S608 - composed of constants
CHANGES = {"INSERT": BROUGHT, "DELETE": TAKEN, "UPDATE": REWRITTEN}
TRANSITIONS = {
    "INSERT": "REFERENCING NEW TABLE AS new_chunk",
    "DELETE": "REFERENCING OLD TABLE AS old_chunk",
    "UPDATE": "REFERENCING OLD TABLE AS old_chunk NEW TABLE AS new_chunk",
}

# The row of corpus_extent comes first: it is held until the transaction ends, so that two that
# change one collection wait for each other there, and never meet in another order further on.
# What belongs to a collection that is being deleted goes with it, by its foreign keys.
# Joins are told to go by the index: their plans are made once, for tables that may be empty yet.
KEEP = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF NOT EXISTS ({changes}) THEN
        RETURN NULL;
    END IF;

    INSERT INTO corpus_extent AS e (collection_id, passages, length)
    SELECT c.collection_id, sum(c.sign),
           coalesce(sum(c.sign * (SELECT sum(coalesce(cardinality(positions), 1))
                                  FROM unnest(c.lexemes))), 0)
    FROM ({changes}) c
    WHERE EXISTS (SELECT FROM collection k WHERE k.id = c.collection_id)
    GROUP BY c.collection_id
    ORDER BY c.collection_id
    ON CONFLICT (collection_id) DO UPDATE
    SET passages = e.passages + excluded.passages, length = e.length + excluded.length;

    INSERT INTO term AS t (collection_id, lexeme, frequency)
    SELECT c.collection_id, word.lexeme, sum(c.sign)
    FROM ({changes}) c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE EXISTS (SELECT FROM collection k WHERE k.id = c.collection_id)
    GROUP BY c.collection_id, word.lexeme
    HAVING sum(c.sign) <> 0
    ORDER BY c.collection_id, word.lexeme COLLATE "C"
    ON CONFLICT (collection_id, lexeme) DO UPDATE SET frequency = t.frequency + excluded.frequency;
{forget}
    INSERT INTO posting (collection_id, lexeme, chunk_id, frequency, length)
    SELECT c.collection_id, word.lexeme, c.id, coalesce(cardinality(word.positions), 1),
           sum(coalesce(cardinality(word.positions), 1)) OVER (PARTITION BY c.id)
    FROM ({changes}) c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE c.sign = 1
    ORDER BY c.collection_id, word.lexeme COLLATE "C", c.id;
    RETURN NULL;
END $$
"""
FORGET = """
    DELETE FROM term t
    USING ({changes}) c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE c.sign = -1 AND t.collection_id = c.collection_id
      AND t.lexeme = word.lexeme COLLATE "C" AND t.frequency <= 0;

    DELETE FROM posting p
    USING ({changes}) c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE c.sign = -1 AND p.collection_id = c.collection_id
      AND p.lexeme = word.lexeme COLLATE "C" AND p.chunk_id = c.id;
"""

# As llmwiki.text.lexemes separates words, so that what is stored agrees with what is asked.
SEPARATED = r"""
regexp_replace(
    translate(array_to_string(breadcrumb, ' > ') || E'\n' || text,
              '!"#$%&()*+,-/:;<=>?@[\]^`{|}~', repeat(' ', 29)),
    '\.(?!\d)|(?<!\d)\.', ' ', 'g')
"""

FILL = (
    f"""
    UPDATE chunk SET lexemes = to_tsvector(k.text_search_config::regconfig, {SEPARATED})
    FROM collection k WHERE k.id = chunk.collection_id AND chunk.parent_id IS NOT NULL
    """,  # noqa: S608 - composed of constants
    """
    INSERT INTO corpus_extent (collection_id, passages, length)
    SELECT collection_id, count(*),
           coalesce(sum((SELECT sum(coalesce(cardinality(positions), 1)) FROM unnest(lexemes))), 0)
    FROM chunk WHERE parent_id IS NOT NULL GROUP BY collection_id
    """,
    """
    INSERT INTO term (collection_id, lexeme, frequency)
    SELECT c.collection_id, word.lexeme, count(*)
    FROM chunk c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE c.parent_id IS NOT NULL GROUP BY c.collection_id, word.lexeme
    """,
    """
    INSERT INTO posting (collection_id, lexeme, chunk_id, frequency, length)
    SELECT c.collection_id, word.lexeme, c.id, coalesce(cardinality(word.positions), 1),
           sum(coalesce(cardinality(word.positions), 1)) OVER (PARTITION BY c.id)
    FROM chunk c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    WHERE c.parent_id IS NOT NULL
    ORDER BY c.collection_id, word.lexeme COLLATE "C", c.id
    """,
)


def upgrade() -> None:
    _create_tables()
    for statement in FILL:
        op.execute(sa.text(statement.replace(":", r"\:")))
    for event, changes in CHANGES.items():
        name = _trigger(event)
        forget = "" if event == "INSERT" else FORGET.format(changes=changes)
        op.execute(KEEP.format(name=name, changes=changes, forget=forget))
        op.execute(
            f"CREATE TRIGGER {name} AFTER {event} ON chunk {TRANSITIONS[event]} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )
    op.drop_index("chunk_lexemes_idx", table_name="chunk")


def downgrade() -> None:
    op.create_index("chunk_lexemes_idx", "chunk", ["lexemes"], postgresql_using="gin")
    for event in CHANGES:
        op.execute(f"DROP TRIGGER {_trigger(event)} ON chunk")
        op.execute(f"DROP FUNCTION {_trigger(event)}")
    for table in ("corpus_extent", "posting", "term"):
        op.drop_table(table)


def _trigger(event: str) -> str:
    return f"keep_word_statistics_on_{event.lower()}"


def _create_tables() -> None:
    op.create_table(
        "term",
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("lexeme", sa.Text(collation="C"), nullable=False),
        sa.Column("frequency", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("term_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection_id", "lexeme", name=op.f("term_pkey")),
    )
    op.create_table(
        "posting",
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("lexeme", sa.Text(collation="C"), nullable=False),
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "collection_id",
            "lexeme",
            "chunk_id",
            name=op.f("posting_pkey"),
            postgresql_include=["frequency", "length"],
        ),
    )
    op.create_table(
        "corpus_extent",
        sa.Column("collection_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("corpus_extent_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection_id", name=op.f("corpus_extent_pkey")),
    )
