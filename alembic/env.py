"""Runs the migrations on the connection that llmwiki.store.migrations hands over."""

from alembic import context

# Imported so that they register their tables with the metadata.
import llmwiki.store.batch_tables
import llmwiki.store.corpus_tables
import llmwiki.store.job_tables
import llmwiki.store.retrieval_tables
import llmwiki.store.wiki_tables  # noqa: F401
from llmwiki.store.base_table import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
