"""Every error that this project raises on purpose.

LlmwikiError
├── UsageError                 the caller asked for something impossible      exit 2
│   ├── ConfigurationError     a setting is missing, malformed or contradicts another
│   ├── UnknownNameError       no such collection, page or revision
│   └── ShrinkRefusedError     an ingest would remove more than half of a collection
├── DatabaseError              the database cannot serve the command          exit 2
│   ├── DatabaseUnreachableError
│   └── SchemaMismatchError    not migrated, or migrated by a newer release
├── DocumentError              one file cannot be read; the others go on      exit 1
├── ProviderError              a model or embedding service failed
│   ├── TransientProviderError a later attempt may succeed
│   ├── QuotaExhaustedError    the provider refuses more calls for now        exit 3
│   ├── BudgetExhaustedError   our own ledger refuses another call
│   └── InvalidAnswerError     the service answered, but not what was asked
├── RunLockedError             another run of the job is alive                exit 75
└── PageLeasedError            a drain is compiling the page                  exit 75

The docstring of a class is its default message. Errors of drivers and clients are
re-raised as one of these, ``from`` the original.
"""

from datetime import datetime


class LlmwikiError(Exception):
    """Something went wrong."""

    calls: int = 0
    """HTTP attempts that were spent before it was raised, each a unit of the ledger."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class UsageError(LlmwikiError):
    """The command cannot be carried out as given."""


class ConfigurationError(UsageError):
    """The configuration is incomplete or contradictory."""


class RefusedRequestError(ConfigurationError):
    """A service refuses this request, and perhaps every other one."""


class UnknownNameError(UsageError):
    """No such name in this database."""


class ShrinkRefusedError(UsageError):
    """The run would remove more than half of the collection; pass --allow-shrink to permit it."""


class DatabaseError(LlmwikiError):
    """The database cannot serve this command."""


class DatabaseUnreachableError(DatabaseError):
    """The database does not answer."""


class SchemaMismatchError(DatabaseError):
    """The schema of the database and this release differ; run `llmwiki migrate`."""


class DocumentError(LlmwikiError):
    """A document cannot be read: names the path, what is wrong, and what to do."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


class ProviderError(LlmwikiError):
    """A model or embedding service failed."""


class TransientProviderError(ProviderError):
    """The service failed in a way that a later attempt may survive."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the service asked to wait, when it said so."""


class QuotaExhaustedError(ProviderError):
    """The provider refuses further calls until its quota returns."""


class BudgetExhaustedError(ProviderError):
    """The ledger's cap for this budget and day is reached."""

    def __init__(self, message: str | None = None, *, resets_at: datetime | None = None) -> None:
        super().__init__(message)
        self.resets_at = resets_at


class InvalidAnswerError(ProviderError):
    """The service answered, but not with what was asked for."""


class RunLockedError(LlmwikiError):
    """Another run of this job is alive."""

    def __init__(self, job: str, run_id: int) -> None:
        super().__init__(f"run {run_id} of {job} is still alive; this one does nothing")
        self.job = job
        self.run_id = run_id


class PageLeasedError(LlmwikiError):
    """A drain is compiling this page."""

    def __init__(self, slug: str, until: datetime) -> None:
        super().__init__(
            f"page {slug!r} is being compiled, until {until:%Y-%m-%d %H:%M:%S %Z} at the latest; "
            "nothing was changed, try again then"
        )
        self.slug = slug
        self.until = until
