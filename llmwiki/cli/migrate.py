"""`llmwiki migrate`: brings the schema of the database to this release."""

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.output import print_json, print_line, run
from llmwiki.store import migrations
from llmwiki.store.engine import require_pgvector


def command(*, as_json: JsonOption = False) -> None:
    """Create the tables, or bring them to this release; safe to repeat."""

    def work(app: App) -> int:
        require_pgvector(app.engine)
        before = migrations.current_revision(app.engine)
        revision = migrations.upgrade(app.engine)
        if as_json:
            print_json(revision=revision, revision_before=before)
        elif before == revision:
            print_line(f"schema {revision}: nothing to do")
        else:
            print_line(f"schema {revision}: migrated from {before or 'an empty database'}")
        return exit_codes.DONE

    run(work, check_schema=False)
