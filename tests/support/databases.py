"""Databases for tests: cloned from a migrated template, and emptied instead of cloned again.

Cloning and dropping a database costs a tenth of a second, which is more than most tests take.
A database is used again only where nothing but rows could have changed.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import URL, Connection, Engine, create_engine, text

from llmwiki.store import migrations

# Everything that is not a row of ours. Statistics are among it: plans go by them. A hash of the
# catalogue is compared, so that a test may do what it likes with its database.
_STATE = """
SELECT md5(string_agg(line, ';' ORDER BY line COLLATE "C")) FROM (
    SELECT format('relation %s %s %s %s', oid, relfilenode, reltuples, reloptions) AS line
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'S'
    UNION ALL
    SELECT format('object %s %s', p.oid, p.xmin) FROM pg_proc p
    WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('column %s %s %s', a.attrelid, a.attnum, a.xmin)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('trigger %s %s', oid, xmin) FROM pg_trigger
    UNION ALL
    SELECT format('constraint %s %s', oid, xmin) FROM pg_constraint
    UNION ALL
    SELECT format('namespace %s %s', oid, xmin) FROM pg_namespace WHERE nspname !~ '^pg_'
    UNION ALL
    SELECT format('search %s %s', oid, xmin) FROM pg_ts_config
    UNION ALL
    SELECT format('extension %s %s', oid, xmin) FROM pg_extension
    UNION ALL
    SELECT format('setting %s', setconfig) FROM pg_db_role_setting
    UNION ALL
    SELECT format('version %s', version_num) FROM alembic_version
) AS state
"""

_EMPTY = """
DO $$
DECLARE
    here record;
    filled boolean;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR here IN SELECT relname FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
                  AND relname <> 'alembic_version'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', here.relname) INTO filled;
        IF filled THEN
            EXECUTE format('DELETE FROM %I', here.relname);
        END IF;
    END LOOP;
    FOR here IN SELECT relname FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'
    LOOP
        EXECUTE format('ALTER SEQUENCE %I RESTART', here.relname);
    END LOOP;
END
$$
"""

_DISCONNECT = """
SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
WHERE datname = :name AND pid <> pg_backend_pid()
"""

_PAGES = """
SELECT coalesce(sum(pg_relation_size(oid)), 0) / 8192 FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
"""

MOST_PAGES = 400
"""Of 8 kB. What is larger is cloned anew: rows that were deleted still lie there."""


@dataclass(slots=True)
class Databases:
    """The databases of one worker."""

    admin: Engine
    """Connected to another database of the server, without transactions."""
    template: str
    _clean: dict[str, str] = field(default_factory=dict)
    """Those that are empty, with the state of each right after its cloning."""

    def url(self, name: str) -> URL:
        """Return where a database is."""
        return self.admin.url.set(database=name)

    @contextmanager
    def empty(self) -> Iterator[URL]:
        """Lend a database that is migrated and empty."""
        name, state = self._clean.popitem() if self._clean else self._clone()
        yield self.url(name)
        self._execute(_DISCONNECT, name=name)
        if self._was_emptied(name, state):
            self._clean[name] = state
        else:
            self._drop(name)

    def close(self) -> None:
        """Drop them all."""
        for name in [*self._clean, self.template]:
            self._drop(name)

    def _clone(self) -> tuple[str, str]:
        name = f"llmwiki_test_{uuid.uuid4().hex[:12]}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        with self._connected(name) as connection:
            return name, str(connection.execute(text(_STATE)).scalar_one())

    def _was_emptied(self, name: str, state: str) -> bool:
        known = "SELECT 1 FROM pg_database WHERE datname = :name AND datallowconn"
        with self.admin.connect() as connection:
            if connection.execute(text(known), {"name": name}).scalar() is None:
                return False
        with self._connected(name) as connection:
            if connection.execute(text(_STATE)).scalar_one() != state:
                return False
            if connection.execute(text(_PAGES)).scalar_one() > MOST_PAGES:
                return False
            connection.execute(text(_EMPTY))
            connection.commit()
        return True

    @contextmanager
    def _connected(self, name: str) -> Iterator[Connection]:
        engine = create_engine(self.url(name))
        with engine.connect() as connection:
            yield connection
        engine.dispose()

    def _drop(self, name: str) -> None:
        self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _execute(self, statement: str, **parameters: str) -> None:
        with self.admin.connect() as connection:
            connection.execute(text(statement), parameters)


def migrated_template(admin: Engine) -> Databases:
    """Create a template and migrate it."""
    databases = Databases(admin=admin, template=f"llmwiki_template_{uuid.uuid4().hex[:12]}")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {databases.template}"))
    engine = create_engine(databases.url(databases.template))
    migrations.upgrade(engine)
    engine.dispose()
    return databases
