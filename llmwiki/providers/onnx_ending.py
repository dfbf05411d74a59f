"""Ends runs of ONNX graphs: when their time is over, and when the program ends.

A thread that is inside of ONNX Runtime when the interpreter goes takes the whole process down,
with exit code 134. So no run may go on for longer than anybody waits for it.
"""

import atexit
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import onnxruntime

LONGEST_FAREWELL = 5.0
"""Seconds that the end of the program waits for runs to end. The flag is looked at between two
operations of a graph, which take milliseconds."""

_FATAL_ONLY = 4
_LOOKS = 0.005

_guard = threading.Lock()
_running: set[onnxruntime.RunOptions] = set()


@contextmanager
def ended_after(seconds: float) -> Iterator[onnxruntime.RunOptions]:
    """Give options for the runs of one piece of work; after so many seconds every run fails.

    ``terminate`` of the options tells whether that is why. The seconds are the machine's: what
    they limit is work of the machine.
    """
    _end_with_the_program()
    options = onnxruntime.RunOptions()
    # That a run was ended is told by whoever ended it.
    options.log_severity_level = _FATAL_ONLY
    timer = threading.Timer(max(0.0, seconds), _end, [options])
    timer.daemon = True
    with _guard:
        _running.add(options)
    timer.start()
    try:
        yield options
    finally:
        timer.cancel()
        with _guard:
            _running.discard(options)


def _end(options: onnxruntime.RunOptions) -> None:
    options.terminate = True


@cache
def _end_with_the_program() -> None:
    """Have the runs ended before the program waits for threads that were given up.

    What is registered last comes first; that is why it is done when a run begins.
    """
    atexit.register(end_all)


def end_all() -> None:
    """End every run, and wait until all of them have left ONNX Runtime."""
    ends_at = time.monotonic() + LONGEST_FAREWELL
    with _guard:
        for options in _running:
            _end(options)
    while _running and time.monotonic() < ends_at:
        time.sleep(_LOOKS)
