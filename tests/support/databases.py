"""Databases for tests: cloned from a migrated template, and emptied instead of cloned again.

Cloning and dropping a database costs a tenth of a second, which is more than most tests take.
A database is used again only where nothing but rows could have changed.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import URL, Engine, StaticPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from llmwiki.store import migrations

# Everything that is not a row of ours. Statistics are among it: plans go by them. A hash of the
# catalogue is compared, so that a test may do what it likes with its database.
_STATE = """
SELECT md5(string_agg(line, ';' ORDER BY line COLLATE "C")) FROM (
    SELECT format('relation %s %s %s %s %s %s', oid, relname, relfilenode, reltuples,
                  reloptions, relacl) AS line
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'S'
    UNION ALL
    SELECT format('object %s %s', p.oid, p.xmin) FROM pg_proc p
    WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('column %s %s %s', a.attrelid, a.attnum, a.xmin)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('index %s %s', indexrelid, i.xmin)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
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
WHERE datname = current_database() AND pid <> pg_backend_pid()
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
    _clean: list["_Database"] = field(default_factory=list)
    """Those that are empty."""

    def url(self, name: str) -> URL:
        """Return where a database is."""
        return self.admin.url.set(database=name)

    @contextmanager
    def empty(self) -> Iterator[URL]:
        """Lend a database that is migrated and empty."""
        database = self._clean.pop() if self._clean else self._clone()
        yield self.url(database.name)
        if database.was_emptied():
            self._clean.append(database)
        else:
            self._drop(database)

    def close(self) -> None:
        """Drop them all."""
        for database in self._clean:
            self._drop(database)
        self._execute(f"DROP DATABASE {self.template} WITH (FORCE)")

    def _clone(self) -> "_Database":
        name = f"llmwiki_test_{uuid.uuid4().hex[:12]}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        return _Database.opened(name, create_engine(self.url(name), poolclass=StaticPool))

    def _drop(self, database: "_Database") -> None:
        database.engine.dispose()
        self._execute(f"DROP DATABASE IF EXISTS {database.name} WITH (FORCE)")

    def _execute(self, statement: str) -> None:
        with self.admin.connect() as connection:
            connection.execute(text(statement))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Database:
    """One database, with a connection that stays open: a new one begins with cold caches."""

    name: str
    engine: Engine
    state: str
    """Right after it was cloned."""

    @classmethod
    def opened(cls, name: str, engine: Engine) -> "_Database":
        with engine.begin() as connection:
            state = str(connection.execute(text(_STATE)).scalar_one())
        return cls(name=name, engine=engine, state=state)

    def was_emptied(self) -> bool:
        """Empty it; False where more than its rows changed, or it is gone."""
        try:
            with self.engine.begin() as connection:
                connection.execute(text(_DISCONNECT))
                if connection.execute(text(_STATE)).scalar_one() != self.state:
                    return False
                if connection.execute(text(_PAGES)).scalar_one() > MOST_PAGES:
                    return False
                connection.execute(text(_EMPTY))
        except DBAPIError:
            return False
        return True


def migrated_template(admin: Engine) -> Databases:
    """Create a template and migrate it."""
    databases = Databases(admin=admin, template=f"llmwiki_template_{uuid.uuid4().hex[:12]}")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {databases.template}"))
    engine = create_engine(databases.url(databases.template))
    migrations.upgrade(engine)
    engine.dispose()
    return databases
