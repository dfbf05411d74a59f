"""Migrations of the schema: apply them, and check that code and database agree."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

import llmwiki
from llmwiki.errors import SchemaMismatchError

MIGRATION_LOCK = 7_340_210_554
"""Key of the advisory lock that lets one process migrate at a time; any number would do."""


def _scripts() -> Path:
    """Return the folder of the migrations: in the package once installed, else the checkout's."""
    package = Path(llmwiki.__file__).parent
    packaged = package / "migrations"
    return packaged if packaged.is_dir() else package.parent / "alembic"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_scripts()).replace("%", "%%"))
    return config


def upgrade(engine: Engine) -> str:
    """Bring the schema to this release; return its revision. Does nothing where it is there.

    Raises SchemaMismatchError for a database that a newer release migrated.
    """
    config = _config()
    with engine.connect() as guard, engine.connect() as connection:
        # Held until the guard's transaction ends: a second migration waits, and finds it done.
        guard.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        _refuse_newer(current_revision(engine))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    return head_revision()


def head_revision() -> str:
    """Return the schema revision that this release works with."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise SchemaMismatchError(f"no migrations lie in {_scripts()}; reinstall llmwiki-compiler")
    return head


def current_revision(engine: Engine) -> str | None:
    """Return the schema revision of the database, None where it was never migrated."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def require_current_schema(engine: Engine) -> None:
    """Raise SchemaMismatchError unless the database has exactly this release's schema."""
    current, head = current_revision(engine), head_revision()
    if current == head:
        return
    if current is None:
        raise SchemaMismatchError("the database holds no llmwiki schema yet; run `llmwiki migrate`")
    _refuse_newer(current)
    raise SchemaMismatchError(
        f"the database is at schema {current}, this release needs {head}; run `llmwiki migrate`"
    )


def _refuse_newer(current: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if current is not None and current not in known:
        raise SchemaMismatchError(
            f"the database is at schema {current}, which this release does not know; "
            "it was migrated by a newer release: upgrade llmwiki-compiler"
        )
