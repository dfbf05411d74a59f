"""Titles, headings and families of the corpus by their lexemes, kept by triggers."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

LONGEST_NAME = 8
"""Lexemes. What is longer is a sentence, which no question repeats; so the first thousand
characters decide, and a title without end is no error."""

# A number before a heading and a bracket after a title tell it from others and are not part of
# what people call it: `4.2. Restoring`, `Mercury (planet)`. Words are separated as
# llmwiki.text.lexemes separates those of questions.
PARTS = r"""
CREATE FUNCTION lexemes_of_name(config regconfig, name text) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(word.lexeme ORDER BY place.position, word.lexeme COLLATE "C")
    FROM unnest(to_tsvector(config, regexp_replace(
             translate(regexp_replace(regexp_replace(left(name, 1000), '\s*\([^()]*\)\s*$', ''),
                                      '^\s*\d+(\.\d+)*[.)]\s+', ''),
                       '!"#$%&()*+,-/:;<=>?@[\]^`{|}~', repeat(' ', 29)),
             '\.(?!\d)|(?<!\d)\.', ' ', 'g'))) AS word(lexeme, positions, weights)
    CROSS JOIN LATERAL unnest(word.positions) AS place(position)
$$
"""

LARGEST_KEY = 500
"""Bytes: an entry of an index has room for a few of them, and a name needs no more."""

# A name without a letter is a number of something: a year, a version, a step.
ADD = """
INSERT INTO corpus_name (collection_id, key, kind, name, document_id, section_id)
SELECT c.id, array_to_string(parts.lexemes, ' '), given.kind, given.name, given.document_id,
       given.section_id
FROM ({names}) AS given(collection_id, kind, name, document_id, section_id)
JOIN collection c ON c.id = given.collection_id
CROSS JOIN LATERAL lexemes_of_name(c.text_search_config::regconfig, given.name) AS parts(lexemes)
WHERE cardinality(parts.lexemes) BETWEEN 1 AND {longest}
  AND octet_length(array_to_string(parts.lexemes, ' ')) <= {largest}
  AND array_to_string(parts.lexemes, '') ~ '[[:alpha:]]'
"""
OF_DOCUMENT = """
    SELECT {row}.collection_id, 'title', {row}.title, {row}.id, NULL::bigint {source}
    UNION ALL
    SELECT {row}.collection_id, 'family', {row}.evidence_family, {row}.id, NULL::bigint {source}
"""
# The first heading is the document's title, which is a name of its own.
OF_SECTION = """
    SELECT {row}.collection_id, 'heading', {row}.breadcrumb[cardinality({row}.breadcrumb)],
           {row}.document_id, {row}.id {source}
    WHERE {row}.parent_id IS NULL AND cardinality({row}.breadcrumb) > 1
"""

KEEP_DOCUMENT = """
CREATE FUNCTION keep_names_of_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM corpus_name WHERE document_id = NEW.id AND section_id IS NULL;
    END IF;
    {add};
    RETURN NULL;
END $$
"""
KEEP_SECTION = """
CREATE FUNCTION keep_names_of_section() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM corpus_name WHERE section_id = NEW.id;
    END IF;
    {add};
    RETURN NULL;
END $$
"""
TRIGGERS = (
    """
    CREATE TRIGGER keep_names_on_insert AFTER INSERT ON document
    FOR EACH ROW EXECUTE FUNCTION keep_names_of_document()
    """,
    """
    CREATE TRIGGER keep_names_on_update AFTER UPDATE ON document
    FOR EACH ROW WHEN (OLD.title IS DISTINCT FROM NEW.title
                       OR OLD.evidence_family IS DISTINCT FROM NEW.evidence_family)
    EXECUTE FUNCTION keep_names_of_document()
    """,
    """
    CREATE TRIGGER keep_names_on_insert AFTER INSERT ON chunk
    FOR EACH ROW WHEN (NEW.parent_id IS NULL) EXECUTE FUNCTION keep_names_of_section()
    """,
    """
    CREATE TRIGGER keep_names_on_update AFTER UPDATE ON chunk
    FOR EACH ROW WHEN ((OLD.parent_id IS NULL OR NEW.parent_id IS NULL)
                       AND (OLD.breadcrumb, OLD.document_id, OLD.parent_id)
                           IS DISTINCT FROM (NEW.breadcrumb, NEW.document_id, NEW.parent_id))
    EXECUTE FUNCTION keep_names_of_section()
    """,
)


def upgrade() -> None:
    _create_table()
    _execute(PARTS)
    of_document = OF_DOCUMENT.format(row="d", source="FROM document d")
    of_section = OF_SECTION.format(row="s", source="FROM chunk s")
    for names in (of_document, of_section):
        _execute(_add(names))
    _execute(KEEP_DOCUMENT.format(add=_add(OF_DOCUMENT.format(row="NEW", source=""))))
    _execute(KEEP_SECTION.format(add=_add(OF_SECTION.format(row="NEW", source=""))))
    for trigger in TRIGGERS:
        _execute(trigger)


def downgrade() -> None:
    for table in ("chunk", "document"):
        for event in ("insert", "update"):
            op.execute(f"DROP TRIGGER keep_names_on_{event} ON {table}")
    for name in ("keep_names_of_section", "keep_names_of_document"):
        op.execute(f"DROP FUNCTION {name}")
    op.execute("DROP FUNCTION lexemes_of_name")
    op.drop_table("corpus_name")


def _add(names: str) -> str:
    return ADD.format(names=names, longest=LONGEST_NAME, largest=LARGEST_KEY)


def _execute(statement: str) -> None:
    op.execute(sa.text(statement.replace(":", r"\:")))


def _create_table() -> None:
    op.create_table(
        "corpus_name",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=False),
        sa.Column("section_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("corpus_name_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
            name=op.f("corpus_name_document_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["section_id"],
            ["chunk.id"],
            name=op.f("corpus_name_section_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("corpus_name_pkey")),
    )
    op.create_index(
        op.f("corpus_name_collection_id_key_kind_idx"),
        "corpus_name",
        ["collection_id", "key", "kind"],
    )
    op.create_index(op.f("corpus_name_document_id_idx"), "corpus_name", ["document_id"])
    op.create_index(op.f("corpus_name_section_id_idx"), "corpus_name", ["section_id"])
