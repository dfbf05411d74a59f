"""A progress bar on standard error, where that is a terminal; silent elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Report = Callable[[str, int, int], None]
"""Called with what was done last, how many are done, and how many there are."""


@contextmanager
def progress_bar(label: str) -> Iterator[Report]:
    """Show a bar while the block works; it is gone when the block ends."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(label, total=None, what="")

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, what=escape(what))
            if done >= total:
                # Logs that follow would be drawn over.
                bar.stop()

        yield report
