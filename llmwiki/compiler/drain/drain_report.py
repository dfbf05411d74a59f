"""Counts what a drain does."""

from dataclasses import dataclass, field

from llmwiki.domain import StoppedReason, Usage

FAILURES_OF_A_SERVICE = 2
"""After so many failures in a row that no page is to blame for, the service is down."""


class OutageError(Exception):
    """The service is taken to be down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainReport:
    """What a drain did, in pages, and the calls that it spent."""

    compiled: int
    skipped_unchanged: int
    failed: int
    usage: Usage
    stopped_reason: StoppedReason


@dataclass(slots=True)
class Tally:
    """Running counts of one drain."""

    compiled: int = 0
    skipped: int = 0
    failed: int = 0
    service_failures_in_a_row: int = 0
    usage: Usage = field(default_factory=Usage)

    def count_service_failure(self) -> None:
        """Count a failure that no page is to blame for. Raises OutageError after some in a row."""
        self.service_failures_in_a_row += 1
        if self.service_failures_in_a_row >= FAILURES_OF_A_SERVICE:
            raise OutageError

    def report(self, reason: StoppedReason) -> DrainReport:
        """Return the counts as they stand, and why the drain ended."""
        return DrainReport(
            compiled=self.compiled,
            skipped_unchanged=self.skipped,
            failed=self.failed,
            usage=self.usage,
            stopped_reason=reason,
        )
