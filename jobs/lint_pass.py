"""The lint pass as a job: checks every page by rule. Costs no call.

Run it as ``python -m jobs.lint_pass`` or ``llmwiki lint``.
"""

from collections import Counter

import typer

from jobs import exit_codes
from jobs.entry import (
    CollectionOption,
    DryRunOption,
    JobRequest,
    JsonOption,
    OwnerOption,
    run_and_print,
)
from jobs.runner import JobContext, JobResult
from llmwiki.domain import Finding, Record
from llmwiki.lint.service import lint_collection
from llmwiki.store import runs

JOB = "lint"


def run(context: JobContext) -> JobResult:
    """Lint the collections, store the findings, and fail when any is an error."""
    findings: list[Finding] = []
    with context.app.engine.connect() as connection:
        for collection in context.options.collections:
            findings += lint_collection(connection, collection, context.app.settings.compile)
        if context.options.dry_run and context.after_sweep:
            # The sweep that was only foretold flags what is not flagged yet.
            findings = [finding for finding in findings if finding.code != "compile-drift"]
        counts = Counter(finding.severity for finding in findings)
        payload = {
            "errors": counts["error"],
            "warnings": counts["warning"],
            "codes": dict(sorted(Counter(finding.code for finding in findings).items())),
        }
        if context.run_id is not None:
            runs.add_findings(connection, context.run_id, findings)
            runs.add_records(connection, context.run_id, [Record(kind="lint", payload=payload)])
            connection.commit()
    listed = [
        {
            "code": finding.code,
            "severity": finding.severity,
            "page": finding.slug,
            "message": finding.message,
        }
        for finding in findings
    ]
    lines = [f"{finding.severity}: {finding.code}: {finding.message}" for finding in findings]
    lines.append(f"lint: {counts['error']} errors, {counts['warning']} warnings")
    return JobResult(
        exit_code=exit_codes.FAILURES if counts["error"] else exit_codes.DONE,
        facts={**payload, "findings": listed},
        lines=tuple(lines),
    )


def command(
    *,
    collection: CollectionOption = None,
    owner: OwnerOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check every page by rule, and store the findings. Costs no call."""
    request = JobRequest(
        collection=collection,
        owner=owner,
        dry_run=dry_run,
        as_json=as_json,
    )
    raise typer.Exit(run_and_print(JOB, run, request))


if __name__ == "__main__":
    typer.run(command)
