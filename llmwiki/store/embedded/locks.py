"""Advisory locks on files, which the kernel releases when their process dies."""

import errno
import fcntl
import os
import time
from pathlib import Path

from llmwiki.closing import ClosedAfterUse
from llmwiki.errors import DatabaseError

POLL_SECONDS = 0.02

_open_descriptors: set[int] = set()


class FileLock(ClosedAfterUse):
    """One open description of a lock file; closing it releases whatever it holds."""

    def __init__(self, path: Path) -> None:
        try:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DatabaseError(f"{path} cannot be opened: {error.strerror}") from error
        self.path = path
        _open_descriptors.add(self.descriptor)

    def try_exclusive(self) -> bool:
        """Take the lock for this holder alone, or return False at once."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take the lock together with other sharers, or return False at once."""
        return self._try(fcntl.LOCK_SH)

    def wait_exclusive(self, seconds: float) -> None:
        """Take the lock for this holder alone; DatabaseError when it stays taken."""
        deadline = time.monotonic() + seconds
        while not self.try_exclusive():
            if time.monotonic() > deadline:
                raise DatabaseError(
                    f"another process has held {self.path} for {seconds:.0f} seconds; "
                    f"find it with `fuser {self.path}`"
                )
            time.sleep(POLL_SECONDS)

    def close(self) -> None:
        """Release the lock."""
        if self.descriptor in _open_descriptors:
            _open_descriptors.discard(self.descriptor)
            os.close(self.descriptor)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                return False
            raise DatabaseError(
                f"{self.path} cannot be locked ({error.strerror}); "
                "the embedded PostgreSQL needs a local file system"
            ) from error
        return True


def _forget_locks_of_parent() -> None:
    # A forked child shares its parent's open descriptions: left open, they would hold the
    # parent's locks for as long as the child lives.
    for descriptor in _open_descriptors:
        os.close(descriptor)
    _open_descriptors.clear()


os.register_at_fork(after_in_child=_forget_locks_of_parent)
