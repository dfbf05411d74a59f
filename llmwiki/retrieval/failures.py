"""Errors that a question survives, in the words in which they are told."""

from sqlalchemy.exc import DBAPIError

from llmwiki.errors import DatabaseError, LlmwikiError
from llmwiki.store.database_errors import told_by_database

SURVIVED = (LlmwikiError, DBAPIError)
"""What a step that is not needed may raise: it fails, and the others go on. A database that takes
no write, or not from this user, refuses the ledger its call."""


def as_told(error: LlmwikiError | DBAPIError) -> LlmwikiError:
    """Return the error without what a driver adds: the statement with all its parameters."""
    if not isinstance(error, DBAPIError):
        return error
    return DatabaseError(f"the database refused it: {told_by_database(error)}")
