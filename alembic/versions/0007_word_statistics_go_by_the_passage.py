"""The triggers of 0005 forget a passage by its own words.

They joined the words of all passages that went with all postings, and the planner, which knows
little of tables that just grew, was free to walk the postings for each of the words: a document of
20,000 different words took two minutes to remove. Passage by passage there is one way to go.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# A passage that keeps its lexemes is in none of these, wherever it is moved.
DIFFERS = """
(o.lexemes IS DISTINCT FROM n.lexemes OR o.collection_id <> n.collection_id
 OR (o.parent_id IS NULL) <> (n.parent_id IS NULL))
"""
BROUGHT = {
    "INSERT": """
SELECT id, collection_id, lexemes, 1 AS sign FROM new_chunk WHERE parent_id IS NOT NULL
""",
    "UPDATE": f"""
SELECT n.id, n.collection_id, n.lexemes, 1 AS sign
FROM old_chunk o JOIN new_chunk n ON n.id = o.id
WHERE n.parent_id IS NOT NULL AND {DIFFERS}
""",  # noqa: S608 - composed of constants
}
TAKEN = {
    "DELETE": """
SELECT id, collection_id, lexemes, -1 AS sign FROM old_chunk WHERE parent_id IS NOT NULL
""",
    "UPDATE": f"""
SELECT o.id, o.collection_id, o.lexemes, -1 AS sign
FROM old_chunk o JOIN new_chunk n ON n.id = o.id
WHERE o.parent_id IS NOT NULL AND {DIFFERS}
""",  # noqa: S608 - composed of constants
}

# The row of corpus_extent comes first: it is held until the transaction ends, so that two that
# change one collection wait for each other there, and never meet in another order further on.
# What belongs to a collection that is being deleted goes with it, by its foreign keys.
# Postings are found by their index: the plan is made once, for a table that may be empty yet.
KEEP = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    gone record;
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
{forget}{remember}
    RETURN NULL;
END $$
"""
FORGET = """
    FOR gone IN SELECT c.id, c.collection_id, tsvector_to_array(c.lexemes) COLLATE "C" AS lexemes
                FROM ({taken}) c
    LOOP
        DELETE FROM posting p
        WHERE p.collection_id = gone.collection_id AND p.lexeme = ANY(gone.lexemes COLLATE "C")
          AND p.chunk_id = gone.id;
        DELETE FROM term t
        WHERE t.collection_id = gone.collection_id AND t.lexeme = ANY(gone.lexemes COLLATE "C")
          AND t.frequency <= 0;
    END LOOP;
"""
REMEMBER = """
    INSERT INTO posting (collection_id, lexeme, chunk_id, frequency, length)
    SELECT c.collection_id, word.lexeme, c.id, coalesce(cardinality(word.positions), 1),
           sum(coalesce(cardinality(word.positions), 1)) OVER (PARTITION BY c.id)
    FROM ({brought}) c CROSS JOIN LATERAL unnest(c.lexemes) AS word
    ORDER BY c.collection_id, word.lexeme COLLATE "C", c.id;
"""


def upgrade() -> None:
    for event in ("INSERT", "UPDATE", "DELETE"):
        brought, taken = BROUGHT.get(event), TAKEN.get(event)
        op.execute(
            KEEP.format(
                name=f"keep_word_statistics_on_{event.lower()}",
                changes=" UNION ALL ".join(filter(None, (taken, brought))),
                forget=FORGET.format(taken=taken) if taken else "",
                remember=REMEMBER.format(brought=brought) if brought else "",
            )
        )


def downgrade() -> None:
    """Leave the functions: they keep the same figures, and go with their triggers in 0005."""
