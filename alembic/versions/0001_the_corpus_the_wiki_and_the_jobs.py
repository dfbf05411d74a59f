"""The corpus, the wiki and the jobs."""

import pgvector.sqlalchemy
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "budget_day",
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("budget", "day", name=op.f("budget_day_pkey")),
    )
    op.create_table(
        "collection",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("text_search_config", sa.Text(), server_default="english", nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("collection_pkey")),
        sa.UniqueConstraint("owner", "name", name=op.f("collection_owner_name_key")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("arguments", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column(
            "heartbeat_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("run_pkey")),
    )
    op.create_index(op.f("run_job_started_at_idx"), "run", ["job", "started_at"], unique=False)
    op.create_table(
        "call",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column(
            "reserved_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("call_run_id_fkey"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("call_pkey")),
    )
    op.create_index(op.f("call_budget_day_idx"), "call", ["budget", "day"], unique=False)
    op.create_table(
        "document",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("byte_size", sa.BigInteger(), nullable=False),
        sa.Column(
            "attributes",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("evidence_family", sa.Text(), nullable=True),
        sa.Column("authority_tier", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column(
            "ingested_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("document_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("document_pkey")),
        sa.UniqueConstraint("collection_id", "path", name=op.f("document_collection_id_path_key")),
    )
    op.create_table(
        "embedding",
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("vector", pgvector.sqlalchemy.Vector(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("embedding_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("collection_id", "embedder", "hash", name=op.f("embedding_pkey")),
    )
    op.create_table(
        "job_lease",
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("job_lease_run_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job", name=op.f("job_lease_pkey")),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("topic_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("topic_pkey")),
        sa.UniqueConstraint("collection_id", "key", name=op.f("topic_collection_id_key_key")),
    )
    op.create_table(
        "chunk",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.BigInteger(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("breadcrumb", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("embedding_hash", sa.Text(), nullable=True),
        sa.Column(
            "identifiers", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("lexemes", postgresql.TSVECTOR(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("chunk_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["document.id"],
            name=op.f("chunk_document_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["chunk.id"], name=op.f("chunk_parent_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("chunk_pkey")),
    )
    op.create_index(
        op.f("chunk_collection_id_embedding_hash_idx"),
        "chunk",
        ["collection_id", "embedding_hash"],
        unique=False,
    )
    op.create_index(op.f("chunk_document_id_idx"), "chunk", ["document_id"], unique=False)
    op.create_index(
        "chunk_identifiers_idx", "chunk", ["identifiers"], unique=False, postgresql_using="gin"
    )
    op.create_index("chunk_lexemes_idx", "chunk", ["lexemes"], unique=False, postgresql_using="gin")
    op.create_index(op.f("chunk_parent_id_idx"), "chunk", ["parent_id"], unique=False)
    op.create_table(
        "page",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("topic_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("topic_title_at_compile", sa.Text(), nullable=True),
        sa.Column("tldr", sa.Text(), server_default="", nullable=False),
        sa.Column("tags", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("search_vector", postgresql.TSVECTOR(), nullable=True),
        sa.Column("embedding_hash", sa.Text(), nullable=True),
        sa.Column("source_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("source_hash", sa.Text(), nullable=True),
        sa.Column("recipe_hash", sa.Text(), nullable=True),
        sa.Column("generator_kind", sa.Text(), nullable=True),
        sa.Column("generator", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("compiled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stale", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "stale_reasons", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("stale_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_token", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("quarantined_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(kind = 'page') = (topic_id IS NOT NULL)", name=op.f("page_topic_check")
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("page_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topic.id"], name=op.f("page_topic_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("page_pkey")),
        sa.UniqueConstraint("collection_id", "slug", name=op.f("page_collection_id_slug_key")),
        sa.UniqueConstraint("topic_id", name=op.f("page_topic_id_key")),
    )
    op.create_index(
        "page_search_vector_idx", "page", ["search_vector"], unique=False, postgresql_using="gin"
    )
    op.create_index(
        "page_stale_idx",
        "page",
        ["stale_since", "id"],
        unique=False,
        postgresql_where=sa.text("stale"),
    )
    op.create_table(
        "finding",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=True),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("finding_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("finding_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("finding_run_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("finding_pkey")),
    )
    op.create_index(op.f("finding_run_id_idx"), "finding", ["run_id"], unique=False)
    op.create_table(
        "page_link",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("target_page_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("page_link_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("page_link_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_page_id"],
            ["page.id"],
            name=op.f("page_link_target_page_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("page_id", "target_page_id", name=op.f("page_link_pkey")),
    )
    op.create_index(
        op.f("page_link_target_page_id_idx"), "page_link", ["target_page_id"], unique=False
    )
    op.create_table(
        "page_revision",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("compiled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("page_revision_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("page_revision_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "revision", name=op.f("page_revision_pkey")),
    )
    op.create_table(
        "page_source",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("chunk_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source_hash_at_compile", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("page_source_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("page_source_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "chunk_id", name=op.f("page_source_pkey")),
    )
    op.create_index(op.f("page_source_chunk_id_idx"), "page_source", ["chunk_id"], unique=False)
    op.create_table(
        "record",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=True),
        sa.Column("page_id", sa.BigInteger(), nullable=True),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("record_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("record_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("record_run_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("record_pkey")),
    )
    op.create_index(
        op.f("record_kind_created_at_idx"), "record", ["kind", "created_at"], unique=False
    )
    op.create_index(op.f("record_run_id_idx"), "record", ["run_id"], unique=False)
    op.create_table(
        "statement",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("section_position", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("chunk_ids", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("statement_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("statement_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("statement_pkey")),
        sa.UniqueConstraint("page_id", "position", name=op.f("statement_page_id_position_key")),
    )
    op.create_index(
        "statement_chunk_ids_idx", "statement", ["chunk_ids"], unique=False, postgresql_using="gin"
    )
    op.create_table(
        "topic_chunk",
        sa.Column("chunk_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("topic_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunk.id"], name=op.f("topic_chunk_chunk_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("topic_chunk_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["topic_id"], ["topic.id"], name=op.f("topic_chunk_topic_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", name=op.f("topic_chunk_pkey")),
    )
    op.create_index(
        op.f("topic_chunk_collection_id_idx"), "topic_chunk", ["collection_id"], unique=False
    )
    op.create_index(op.f("topic_chunk_topic_id_idx"), "topic_chunk", ["topic_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("topic_chunk_topic_id_idx"), table_name="topic_chunk")
    op.drop_index(op.f("topic_chunk_collection_id_idx"), table_name="topic_chunk")
    op.drop_table("topic_chunk")
    op.drop_index("statement_chunk_ids_idx", table_name="statement", postgresql_using="gin")
    op.drop_table("statement")
    op.drop_index(op.f("record_run_id_idx"), table_name="record")
    op.drop_index(op.f("record_kind_created_at_idx"), table_name="record")
    op.drop_table("record")
    op.drop_index(op.f("page_source_chunk_id_idx"), table_name="page_source")
    op.drop_table("page_source")
    op.drop_table("page_revision")
    op.drop_index(op.f("page_link_target_page_id_idx"), table_name="page_link")
    op.drop_table("page_link")
    op.drop_index(op.f("finding_run_id_idx"), table_name="finding")
    op.drop_table("finding")
    op.drop_index("page_stale_idx", table_name="page", postgresql_where=sa.text("stale"))
    op.drop_index("page_search_vector_idx", table_name="page", postgresql_using="gin")
    op.drop_table("page")
    op.drop_index(op.f("chunk_parent_id_idx"), table_name="chunk")
    op.drop_index("chunk_lexemes_idx", table_name="chunk", postgresql_using="gin")
    op.drop_index("chunk_identifiers_idx", table_name="chunk", postgresql_using="gin")
    op.drop_index(op.f("chunk_document_id_idx"), table_name="chunk")
    op.drop_index(op.f("chunk_collection_id_embedding_hash_idx"), table_name="chunk")
    op.drop_table("chunk")
    op.drop_table("topic")
    op.drop_table("job_lease")
    op.drop_table("embedding")
    op.drop_table("document")
    op.drop_index(op.f("call_budget_day_idx"), table_name="call")
    op.drop_table("call")
    op.drop_index(op.f("run_job_started_at_idx"), table_name="run")
    op.drop_table("run")
    op.drop_table("collection")
    op.drop_table("budget_day")
