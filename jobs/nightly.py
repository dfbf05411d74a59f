"""The night: drift sweep, compile drain and lint pass, in this order, under one run.

Run it as ``python -m jobs.nightly`` or ``llmwiki nightly``.
"""

from dataclasses import replace

import structlog
import typer

from jobs import compile_drain, drift_sweep, exit_codes, lint_pass
from jobs.entry import budgeted_command
from jobs.runner import Body, JobContext, JobResult

log = structlog.get_logger()

JOB = "nightly"

_PARTS: tuple[tuple[str, Body], ...] = (
    ("sweep", drift_sweep.run),
    ("drain", compile_drain.run),
    ("lint", lint_pass.run),
)


def run(context: JobContext) -> JobResult:
    """Run the three jobs; one that breaks down does not keep the next from running."""
    facts: dict[str, object] = {}
    lines: list[str] = []
    codes = []
    for name, part in _PARTS:
        try:
            result = part(replace(context, after_sweep=True))
        except Exception as error:
            log.exception("job.part_failed", part=name)
            result = JobResult(
                exit_code=exit_codes.ERROR,
                facts={"error": str(error)},
                lines=(f"{name}: failed: {error}",),
            )
        facts[name] = {"exit_code": result.exit_code, **result.facts}
        lines += result.lines
        codes.append(result.exit_code)
    return JobResult(exit_code=exit_codes.worst(codes), facts=facts, lines=tuple(lines))


command = budgeted_command(JOB, run, "Run the night: drift sweep, compile drain, lint pass.")

if __name__ == "__main__":
    typer.run(command)
