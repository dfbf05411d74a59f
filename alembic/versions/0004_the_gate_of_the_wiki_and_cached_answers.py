"""The gate of the wiki, answers of models that are kept, and what counts as evidence."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("collection", sa.Column("promoted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "collection",
        sa.Column("evidence_levels", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
    )
    op.create_table(
        "kept_answer",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("kept_answer_pkey")),
    )
    op.create_index(op.f("kept_answer_expires_at_idx"), "kept_answer", ["expires_at"])


def downgrade() -> None:
    op.drop_table("kept_answer")
    op.drop_column("collection", "evidence_levels")
    op.drop_column("collection", "promoted_at")
