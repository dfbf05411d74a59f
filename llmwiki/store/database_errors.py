"""What a database said when it refused something, in a line for people.

The text of SQLAlchemy's errors holds the whole statement with all its parameters, which may be a
document; that of PostgreSQL's can hold the failing row and the statements of a trigger.
"""

from psycopg import Error
from sqlalchemy.exc import StatementError

LONGEST = 300
"""Characters."""


def told_by_database(error: StatementError) -> str:
    """Return the cause in one line: what PostgreSQL said at first, or why nothing was sent."""
    cause = error.orig
    primary = cause.diag.message_primary if isinstance(cause, Error) else None
    told = " ".join((primary or str(cause)).split())
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rstrip()} …"
