"""The clock of this process."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The Clock port over the operating system."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start, never running backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is none."""
        time.sleep(max(0.0, seconds))
