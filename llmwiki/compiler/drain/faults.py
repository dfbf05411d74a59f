"""Tells, purely, what a failure is due to: that decides who pays for it."""

from typing import Literal

from sqlalchemy.exc import DBAPIError

from llmwiki.errors import (
    BudgetExhaustedError,
    ConfigurationError,
    InvalidAnswerError,
    LlmwikiError,
    ProviderError,
    QuotaExhaustedError,
    RefusedRequestError,
)


def fault_of(error: Exception) -> Literal["page", "service", "page-or-all", "all"]:
    """Tell what an error is due to: the page at hand, a service, or what every page needs.

    ``page-or-all``: other requests tell which; where another succeeds, it is the page's.

    An error that nobody foresaw is the page's, so that it cannot stop the queue every night.
    """
    if isinstance(error, BudgetExhaustedError | QuotaExhaustedError):
        return "all"
    if isinstance(error, RefusedRequestError):
        return "page-or-all"
    if isinstance(error, InvalidAnswerError):
        return "page"
    if isinstance(error, ProviderError):
        return "service"
    is_connection_lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return "all" if isinstance(error, LlmwikiError) or is_connection_lost else "page"


def as_fault_of_page(error: Exception) -> InvalidAnswerError:
    """Return the error as one that the page at hand is to blame for."""
    return InvalidAnswerError(str(error))


def as_fault_of_all(error: Exception) -> ConfigurationError:
    """Return the error as one that no page is to blame for, but the configuration."""
    return ConfigurationError(f"different requests were refused and none was answered: {error}")
