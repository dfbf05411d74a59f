"""Batches of requests."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batch",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("collection_ids", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("worker_run_id", sa.BigInteger(), nullable=True),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("generator", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("input_file_id", sa.Text(), nullable=True),
        sa.Column("service_batch_id", sa.Text(), nullable=True),
        sa.Column("service_status", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('submitting', 'submitted', 'collected', 'failed')",
            name=op.f("batch_state_check"),
        ),
        sa.ForeignKeyConstraint(
            ["worker_run_id"],
            ["run.id"],
            name=op.f("batch_worker_run_id_fkey"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("batch_pkey")),
        sa.UniqueConstraint("token", name=op.f("batch_token_key")),
    )
    op.create_index(
        "batch_open_idx",
        "batch",
        ["id"],
        unique=False,
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_table(
        "batch_request",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=False),
        sa.Column("custom_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.BigInteger(), nullable=True),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("pages", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("page_count", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
            name=op.f("batch_request_batch_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["call_id"],
            ["call.id"],
            name=op.f("batch_request_call_id_fkey"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("batch_request_pkey")),
        sa.UniqueConstraint(
            "batch_id", "custom_id", name=op.f("batch_request_batch_id_custom_id_key")
        ),
    )
    op.create_index(op.f("batch_request_call_id_idx"), "batch_request", ["call_id"], unique=False)


def downgrade() -> None:
    op.drop_table("batch_request")
    op.drop_table("batch")
