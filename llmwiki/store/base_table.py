"""What all tables share: the names of constraints, column types, and columns of every table.

Every large table carries ``collection_id``, which can serve as a distribution key.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, Identity, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s_check",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class Base(DeclarativeBase):
    """Maps Python types to column types, the same way in every table."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - the name and form are SQLAlchemy's
        int: BigInteger,
        str: Text,
        datetime: DateTime(timezone=True),
        list[str]: ARRAY(Text),
        list[int]: ARRAY(BigInteger),
        dict[str, Any]: JSONB,
    }


def key_column() -> Mapped[int]:
    """Return a generated primary key."""
    return mapped_column(BigInteger, Identity(), primary_key=True)


def collection_column() -> Mapped[int]:
    """Return the reference to the collection that a row belongs to."""
    return mapped_column(ForeignKey("collection.id", ondelete="CASCADE"))
