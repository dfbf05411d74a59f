"""Gives up what takes too long, whatever it waits for."""

import atexit
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import TypeVar
from weakref import WeakSet

from llmwiki.errors import ProviderError, TransientProviderError

T = TypeVar("T")

THREAD_PREFIX = "llmwiki-"

LONGEST_FAREWELL = 10.0
"""Seconds that a program waits at its end for work that nobody waits for any more. A thread that
is inside of a native library when the interpreter goes would abort the program."""

_at_work: WeakSet[Thread] = WeakSet()
"""All that began, since Ctrl-C leaves work behind as well as a deadline does."""


def within(seconds: float, work: Callable[[], T], *, name: str) -> T:
    """Return what the work returns or raise what it raises, if it ends in so many seconds.

    The work runs in a thread of its own, since a name look-up or a database can hang where no
    time-out reaches. A thread cannot be ended: given up, it goes on until its own time-outs end
    it, and its result is dropped. So it must not use what belongs to the caller's thread, as a
    connection. Raises TransientProviderError when it is given up, ProviderError when the work
    wants to end the program.
    """
    outcome: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            outcome.set_exception(error)

    thread = Thread(target=run, name=f"{THREAD_PREFIX}{name}", daemon=True)
    _at_work.add(thread)
    thread.start()
    wait([outcome], timeout=max(0.0, seconds))
    if not outcome.done():
        raise TransientProviderError(
            f"{name} was given up after {seconds:.2g} s; the ledger tells what it spent"
        )
    error = outcome.exception()
    if error is not None and not isinstance(error, Exception):
        raise ProviderError(f"{name} raised {type(error).__name__}") from error
    return outcome.result()


@atexit.register
def let_end() -> None:
    """Let work that was left behind come to its end, for a while."""
    ends_at = time.monotonic() + LONGEST_FAREWELL
    for thread in tuple(_at_work):
        thread.join(timeout=max(0.0, ends_at - time.monotonic()))
