"""What the exit code of a job says; documented beside crontab.example as well."""

from collections.abc import Iterable

DONE = 0
"""All is well. A budget of our own that is reached counts as well."""
FAILURES = 1
"""Pages or documents failed, or lint found errors; the rest was done."""
ERROR = 2
"""Usage, configuration, database or an internal error; nothing more was done."""
STOPPED_EARLY = 3
"""The provider's quota, an outage or the deadline ended the work; the next run goes on."""
LOCKED = 75
"""Another run of the job is alive."""
INTERRUPTED = 130
TERMINATED = 143

_FROM_BEST_TO_WORST = (DONE, STOPPED_EARLY, FAILURES, ERROR)


def worst(codes: Iterable[int]) -> int:
    """Return the code that decides for several parts of a job."""
    return max(codes, key=_FROM_BEST_TO_WORST.index, default=DONE)
