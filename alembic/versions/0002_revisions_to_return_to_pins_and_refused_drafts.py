"""Revisions that can be returned to, pins, refused drafts, and what a quarantine was about."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("page", sa.Column("pinned_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("page", sa.Column("pinned_edges", sa.Text(), nullable=True))
    op.add_column("page", sa.Column("quarantined_edges", sa.Text(), nullable=True))
    op.create_check_constraint(
        op.f("page_pin_check"), "page", "(pinned_at IS NULL) = (pinned_edges IS NULL)"
    )
    op.create_table(
        "refused_draft",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("generator", sa.Text(), nullable=False),
        sa.Column("refusal", sa.Text(), nullable=False),
        sa.Column("dropped", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("refused_draft_collection_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["page.id"], name=op.f("refused_draft_page_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("refused_draft_run_id_fkey"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("refused_draft_pkey")),
    )
    op.create_index(op.f("refused_draft_page_id_idx"), "refused_draft", ["page_id"], unique=False)
    _complete_revisions()
    _remember_quarantines()


def _complete_revisions() -> None:
    """Give each current revision its text and edges; the older ones can never have them."""
    op.execute(
        """
        UPDATE page_revision r
        SET content = r.content || jsonb_build_object(
            'topic_title', coalesce(p.topic_title_at_compile, p.title),
            'body', p.body,
            'generator_kind', p.generator_kind,
            'generator_version', '',
            'edges', (
                SELECT coalesce(
                    jsonb_agg(
                        jsonb_build_object(
                            'chunk_id', s.chunk_id, 'content_hash', s.source_hash_at_compile
                        ) ORDER BY s.position
                    ), '[]'
                )
                FROM page_source s WHERE s.page_id = p.id
            )
        )
        FROM page p
        WHERE p.id = r.page_id AND p.revision = r.revision
        """
    )
    op.execute(
        """
        DELETE FROM page_revision r USING page p
        WHERE p.id = r.page_id AND p.revision <> r.revision
        """
    )


def _remember_quarantines() -> None:
    """Take the present sources of a quarantined page for those that it failed on."""
    op.execute(
        """
        UPDATE page p
        SET quarantined_edges = (
            SELECT encode(sha256(convert_to(coalesce(
                string_agg(c.content_hash, ' ' ORDER BY c.content_hash COLLATE "C"), ''
            ), 'UTF8')), 'hex')
            FROM topic_chunk t JOIN chunk c ON c.id = t.chunk_id
            WHERE t.topic_id = p.topic_id
        )
        WHERE p.quarantined_at IS NOT NULL
        """
    )


def downgrade() -> None:
    op.drop_table("refused_draft")
    op.drop_constraint(op.f("page_pin_check"), "page", type_="check")
    op.drop_column("page", "quarantined_edges")
    op.drop_column("page", "pinned_edges")
    op.drop_column("page", "pinned_at")
