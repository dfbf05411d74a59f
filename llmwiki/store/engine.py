"""From a database URL to a SQLAlchemy engine; the only place that opens databases."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError, ProgrammingError

from llmwiki.closing import ClosedAfterUse
from llmwiki.errors import ConfigurationError, DatabaseError, DatabaseUnreachableError

SMALLEST_PGVECTOR = "0.8.2"
CONNECT_SECONDS = 10

_DRIVER = "postgresql+psycopg"
_SCHEMES = ("postgresql", "postgres", _DRIVER)
_EXAMPLES = "`postgresql://user:password@host/database` or `embedded:/var/lib/llmwiki`"


@dataclass(frozen=True, kw_only=True)
class Database(ClosedAfterUse):
    """An open database: leaving the block disposes of the engine and leaves the server."""

    engine: Engine
    leave_server: Callable[[], None] | None = None

    def close(self) -> None:
        """Close the connections, and stop an embedded server that nobody else uses."""
        self.engine.dispose()
        if self.leave_server is not None:
            self.leave_server()


@dataclass(frozen=True, kw_only=True)
class ServerFacts:
    """What the server is, for `llmwiki doctor` and for refusing old ones."""

    postgresql: str
    pgvector: str | None
    """The version created in this database."""
    pgvector_available: str | None
    """The version that the server could create."""


def open_database(database_url: str | None) -> Database:
    """Open the database that the configuration names, and check that it answers.

    Raises ConfigurationError for a URL that is missing or wrong, and
    DatabaseUnreachableError; neither shows a password.
    """
    if not database_url or not database_url.strip():
        raise ConfigurationError(
            "no database is configured; set LLMWIKI_DATABASE_URL, or database_url in "
            f"llmwiki.toml, to {_EXAMPLES}"
        )
    url = database_url.strip()
    if url.startswith("embedded:"):
        return _open_embedded(url.removeprefix("embedded:"))
    return Database(engine=_connected_engine(parse_url(url)))


def parse_url(database_url: str) -> URL:
    """Return a PostgreSQL URL for the driver psycopg.

    Raises ConfigurationError, which shows nothing of the URL but its scheme.
    """
    scheme, separator, rest = database_url.partition("://")
    if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise ConfigurationError(f"the database URL is malformed; it should be {_EXAMPLES}")
    if scheme.lower() not in _SCHEMES:
        raise ConfigurationError(
            f"the database URL begins with {scheme}://, which is not supported; "
            f"it should be {_EXAMPLES}"
        )
    # Read past a bare @, part of the password would be taken for the host and shown in errors.
    if rest.partition("?")[0].count("@") > 1:
        raise ConfigurationError(
            "the database URL is malformed: write @ in a user name or a password as %40"
        )
    try:
        return make_url(f"{_DRIVER}://{rest}")
    except (ArgumentError, ValueError):
        # Without the cause: its text may repeat the URL.
        raise ConfigurationError(
            f"the database URL {scheme}://… is malformed; it should be {_EXAMPLES}"
        ) from None


def server_facts(engine: Engine) -> ServerFacts:
    """Ask the server for its version and that of pgvector."""
    with engine.connect() as connection:
        version = connection.execute(text("SHOW server_version")).scalar_one()
        extension = connection.execute(
            text(
                "SELECT installed_version, default_version "
                "FROM pg_available_extensions WHERE name = 'vector'"
            )
        ).one_or_none()
    installed, available = extension or (None, None)
    return ServerFacts(postgresql=str(version), pgvector=installed, pgvector_available=available)


def text_settings(connection: Connection) -> tuple[str, str]:
    """Return the database's encoding and the locale that tells it what a letter is."""
    row = connection.execute(
        text(
            "SELECT pg_encoding_to_char(encoding), datctype "
            "FROM pg_database WHERE datname = current_database()"
        )
    ).one()
    return row[0], row[1]


def require_pgvector(engine: Engine) -> ServerFacts:
    """Return the facts of a server whose pgvector will do.

    Raises DatabaseError when there is none, or one with the overflow CVE-2026-3172.
    """
    facts = server_facts(engine)
    smallest = _numbers(SMALLEST_PGVECTOR)
    major = facts.postgresql.partition(".")[0]
    package = f"`postgresql-{major}-pgvector` {SMALLEST_PGVECTOR} or newer"
    if facts.pgvector_available is None:
        raise DatabaseError(
            f"the server (PostgreSQL {facts.postgresql}) has no extension `vector`; "
            f"install {package} on it"
        )
    current = facts.pgvector or facts.pgvector_available
    if _numbers(current) >= smallest:
        return facts
    remedy = (
        "run `ALTER EXTENSION vector UPDATE` in this database"
        if _numbers(facts.pgvector_available) >= smallest
        else f"install {package} on it, then run `ALTER EXTENSION vector UPDATE`"
    )
    raise DatabaseError(
        f"pgvector {current} on the server is older than {SMALLEST_PGVECTOR}, which closed "
        f"CVE-2026-3172; {remedy}"
    )


def _open_embedded(path: str) -> Database:
    if not path:
        raise ConfigurationError("embedded: lacks the path of a folder, as `embedded:./database`")
    if sys.platform == "win32":
        raise DatabaseError(
            "the embedded PostgreSQL is for Linux and macOS; use a postgresql:// URL"
        )
    # Imported here because it needs modules that Windows lacks.
    from llmwiki.store.embedded.server import EmbeddedServer  # noqa: PLC0415

    server = EmbeddedServer.start(Path(path))
    try:
        engine = _connected_engine(make_url(server.url()))
    except BaseException:
        server.close()
        raise
    return Database(engine=engine, leave_server=server.close)


def _connected_engine(url: URL) -> Engine:
    engine = create_engine(url, pool_pre_ping=True, connect_args=_connect_options(url))
    try:
        engine.connect().close()
    except ProgrammingError as error:
        engine.dispose()
        raise ConfigurationError(f"the database URL: {_reason(error, url)}") from error
    except OperationalError as error:
        engine.dispose()
        raise DatabaseUnreachableError(
            f"the database {_shown(url)} does not answer: {_reason(error, url)}"
        ) from error
    return engine


def _shown(url: URL) -> str:
    """Return the URL without its password, wherever in it that stands."""
    return url.difference_update_query(["password"]).render_as_string(hide_password=True)


def _connect_options(url: URL) -> dict[str, str | int]:
    """Return the defaults for what the URL leaves open, and the time zone in any case.

    Compiling the queries of a question takes longer than running them, so that is off.
    """
    asked = url.query.get("options", "")
    options = " ".join([asked] if isinstance(asked, str) else asked)
    defaults: dict[str, str | int] = {
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "llmwiki",
    }
    chosen = {name: value for name, value in defaults.items() if name not in url.query}
    return chosen | {"options": f"{options} -c TimeZone=UTC -c jit=off".strip()}


def _reason(error: OperationalError | ProgrammingError, url: URL) -> str:
    reason = " ".join(str(error.orig).split())
    return reason.replace(str(url.password), "***") if url.password else reason


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
