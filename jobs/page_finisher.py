"""Wires what writes the pages of a run."""

from jobs.runner import JobContext
from llmwiki.compiler.drain.finishing import PageFinisher
from llmwiki.domain import RunId


def open_finisher(context: JobContext, run_id: RunId, *, upgrade_follows: bool) -> PageFinisher:
    """Return what writes pages of the job's collections; see ``PageFinisher``."""
    app = context.app
    return PageFinisher(
        engine=app.engine,
        embedder=app.embedder,
        collections={collection.id: collection for collection in context.options.collections},
        limits=app.settings.compile.gate,
        run_id=run_id,
        upgrade_follows=upgrade_follows,
    )
