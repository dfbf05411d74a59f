"""The drift sweep as a job: flags the pages whose sources moved. Costs no call.

Run it as ``python -m jobs.drift_sweep`` or ``llmwiki sweep``.
"""

import typer

from jobs import exit_codes
from jobs.entry import free_command
from jobs.runner import JobContext, JobResult
from llmwiki.compiler.fingerprint import recipe_hash
from llmwiki.drift.service import sweep_collections, sweep_record
from llmwiki.store import runs

JOB = "drift-sweep"
MOST_LISTED = 20


def run(context: JobContext) -> JobResult:
    """Recompute what is stale; a dry run tells what a real one would change."""
    generator = context.app.generator.identity
    verdicts = sweep_collections(
        context.app.engine,
        context.options.collections,
        recipe_hash(generator),
        generator.kind,
        write=not context.options.dry_run,
    )
    record = sweep_record(verdicts)
    if context.run_id is not None:
        with context.app.engine.connect() as connection:
            runs.add_records(connection, context.run_id, [record])
            connection.commit()
    pages = [{"page": verdict.slug, "reasons": list(verdict.reasons)} for verdict in verdicts]
    lines = [f"{page['page']}: {', '.join(page['reasons']) or 'fresh again'}" for page in pages]
    if len(lines) > MOST_LISTED:
        lines = [*lines[:MOST_LISTED], f"… and {len(lines) - MOST_LISTED} more"]
    marked, cleared = record.payload["pages_marked_stale"], record.payload["pages_cleared"]
    would = "would be " if context.options.dry_run else ""
    lines.append(f"drift sweep: {marked} pages {would}marked stale, {cleared} {would}cleared")
    return JobResult(
        exit_code=exit_codes.DONE, facts={**record.payload, "pages": pages}, lines=tuple(lines)
    )


command = free_command(
    JOB, run, "Flag the pages whose sources moved, with the reasons. Costs no call."
)

if __name__ == "__main__":
    typer.run(command)
