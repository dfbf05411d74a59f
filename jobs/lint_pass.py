"""The lint pass as a job: checks every page by rule. Costs no call.

Run it as ``python -m jobs.lint_pass`` or ``llmwiki lint``.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer
from sqlalchemy import Connection

from jobs import exit_codes
from jobs.entry import free_command
from jobs.runner import JobContext, JobResult
from llmwiki.domain import Collection, Finding, Record
from llmwiki.lint.service import lint_collection
from llmwiki.store import runs

JOB = "lint"
WARNINGS_SHOWN = 20


def run(context: JobContext) -> JobResult:
    """Lint the collections, store the findings, and fail when any is an error."""
    with context.app.engine.connect() as connection:
        by_collection = {
            collection.id: _lint(connection, context, collection)
            for collection in context.options.collections
        }
        findings = [finding for found in by_collection.values() for finding in found]
        if context.run_id is not None:
            runs.add_findings(connection, context.run_id, findings)
            # One for each collection: its wiki's gate goes by it.
            records = [
                Record(kind="lint", payload=_counts(found), collection_id=collection_id)
                for collection_id, found in by_collection.items()
            ]
            runs.add_records(connection, context.run_id, records)
            connection.commit()
    payload = _counts(findings)
    return JobResult(
        exit_code=exit_codes.FAILURES if payload["errors"] else exit_codes.DONE,
        facts={**payload, "findings": list(map(_facts, findings))},
        lines=(
            *_lines(findings),
            f"lint: {payload['errors']} errors, {payload['warnings']} warnings",
        ),
    )


def _lint(connection: Connection, context: JobContext, collection: Collection) -> list[Finding]:
    found = lint_collection(connection, collection, context.app.settings.compile)
    if context.options.dry_run and context.after_sweep:
        # The sweep that was only foretold flags what is not flagged yet.
        return [finding for finding in found if finding.code != "compile-drift"]
    return list(found)


def _facts(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "page": finding.slug,
        "message": finding.message,
    }


def _counts(findings: Sequence[Finding]) -> dict[str, Any]:
    severities = Counter(finding.severity for finding in findings)
    return {
        "errors": severities["error"],
        "warnings": severities["warning"],
        "codes": dict(sorted(Counter(finding.code for finding in findings).items())),
    }


def _lines(findings: Sequence[Finding]) -> list[str]:
    """Return every error, and the first of the warnings."""
    errors = [finding for finding in findings if finding.severity == "error"]
    warnings = [finding for finding in findings if finding.severity == "warning"]
    lines = [
        f"{finding.severity}: {finding.code}: {finding.message}"
        for finding in (*errors, *warnings[:WARNINGS_SHOWN])
    ]
    if len(warnings) > WARNINGS_SHOWN:
        lines.append(f"… and {len(warnings) - WARNINGS_SHOWN} more warnings; --json lists all")
    return lines


command = free_command(JOB, run, "Check every page by rule, and store the findings. Costs no call.")

if __name__ == "__main__":
    typer.run(command)
