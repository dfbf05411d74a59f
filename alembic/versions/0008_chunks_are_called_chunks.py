"""The size of a collection counts its chunks, and says so."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _rename("passages", "chunks")


def downgrade() -> None:
    _rename("chunks", "passages")


def _rename(old: str, new: str) -> None:
    """Rename the column, here and in the functions that keep it up to date."""
    op.alter_column("corpus_extent", old, new_column_name=new)
    connection = op.get_bind()
    for event in ("insert", "update", "delete"):
        definition = connection.execute(
            sa.text("SELECT pg_get_functiondef(CAST(:name AS regproc))"),
            {"name": f"keep_word_statistics_on_{event}"},
        ).scalar_one()
        connection.exec_driver_sql(definition.replace(old, new))
