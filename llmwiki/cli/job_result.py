"""Prints what a command did that ran as a job: lines for people, or one JSON object."""

import time
from typing import Any

from jobs.runner import JobResult
from llmwiki.cli.output import print_json, print_line


def print_result(
    job: str,
    result: JobResult,
    *,
    started: float,
    as_json: bool,
    **about: Any,  # noqa: ANN401 - any JSON value
) -> None:
    """Print the result of a job that began then, on the monotonic clock.

    ``about`` are keys of the JSON that tell what was asked for.
    """
    if as_json:
        print_json(
            job=job,
            run_id=result.run_id,
            **about,
            exit_code=result.exit_code,
            duration_seconds=round(time.monotonic() - started, 3),
            **result.facts,
        )
        return
    for line in result.lines:
        print_line(line)
