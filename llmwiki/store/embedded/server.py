"""A PostgreSQL server of our own in a folder, started by the first user, stopped by the last.

Every process holds a shared lock on PATH/users.lock while it uses the server. Whoever leaves
tries to make it exclusive, and succeeding means to be the last. The kernel drops the lock of
a process that is killed, so nothing goes stale: the next user finds the server running, uses
it and stops it. PATH/start.lock serialises arriving and leaving.

For Linux and macOS; importing this module fails elsewhere.
"""

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg
from sqlalchemy import URL

from llmwiki.closing import ClosedAfterUse
from llmwiki.errors import DatabaseError
from llmwiki.store.embedded.account import MARKER, choose_account, make_home
from llmwiki.store.embedded.cluster import MAINTENANCE_DATABASE, OWNER, PORT, Cluster
from llmwiki.store.embedded.locks import FileLock
from llmwiki.store.embedded.programs import find_programs

DATABASE = "llmwiki"
_LOCK_SECONDS = 180.0


class EmbeddedServer(ClosedAfterUse):
    """One use of the server in a folder; several uses of one folder share the server."""

    def __init__(self, home: Path, socket_folder: Path) -> None:
        self.home = home
        self.socket_folder = socket_folder
        self._process = os.getpid()
        self._closed = False

    @classmethod
    def start(cls, path: Path, *, settings: Mapping[str, str] | None = None) -> Self:
        """Use the server in this folder, which is made and started if need be.

        The settings of PostgreSQL take effect only if this call starts the server. Raises
        DatabaseError, and ConfigurationError when the programs are not installed.
        """
        home = path.expanduser().resolve()
        try:
            return cls(home, _uses.add(home, settings or {}))
        except (OSError, psycopg.Error) as error:
            raise DatabaseError(f"embedded PostgreSQL in {home}: {error}") from error

    def url(self, database: str = DATABASE) -> str:
        """Return the SQLAlchemy URL of a database of this server."""
        query = {"host": str(self.socket_folder), "port": str(PORT)}
        url = URL.create("postgresql+psycopg", OWNER, database=database, query=query)
        return url.render_as_string()

    def close(self) -> None:
        """End this use; the last one of all processes stops the server."""
        # A forked child inherits the object, but the use is its parent's.
        if not self._closed and self._process == os.getpid():
            self._closed = True
            _uses.remove(self.home)


@dataclass
class _Use:
    cluster: Cluster
    users: FileLock
    count: int = 0


class _Uses:
    """The servers that this process uses, by folder."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._guard = threading.Lock()
        self._by_home: dict[Path, _Use] = {}

    def add(self, home: Path, settings: Mapping[str, str]) -> Path:
        with self._guard:
            account = choose_account(home / "data")
            make_home(home, account)
            with _arriving_or_leaving(home):
                use = self._by_home.get(home)
                if use is None:
                    cluster = Cluster(home=home, programs=find_programs(home, account))
                    use = _Use(cluster, FileLock(home / "users.lock"))
                try:
                    use.users.try_shared()
                    folder = use.cluster.ensure_running(settings)
                    _ensure_database(folder)
                except BaseException:
                    if not use.count:
                        use.users.close()
                    raise
            use.count += 1
            self._by_home[home] = use
            return folder

    def remove(self, home: Path) -> None:
        with self._guard:
            use = self._by_home[home]
            use.count -= 1
            if not use.count:
                del self._by_home[home]
                _leave(use)

    def remove_all(self) -> None:
        with self._guard:
            while self._by_home:
                _, use = self._by_home.popitem()
                # The interpreter is ending, and the next user of the folder makes up for it.
                with contextlib.suppress(DatabaseError, OSError):
                    _leave(use)


@contextlib.contextmanager
def _arriving_or_leaving(home: Path) -> Iterator[None]:
    with FileLock(home / MARKER) as lock:
        lock.wait_exclusive(_LOCK_SECONDS)
        yield


def _leave(use: _Use) -> None:
    with use.users, _arriving_or_leaving(use.cluster.home):
        if use.users.try_exclusive():
            use.cluster.stop()


def _ensure_database(socket_folder: Path) -> None:
    with psycopg.connect(
        host=str(socket_folder),
        port=PORT,
        user=OWNER,
        dbname=MAINTENANCE_DATABASE,
        autocommit=True,
    ) as connection:
        query = "SELECT FROM pg_database WHERE datname = %s"
        if connection.execute(query, [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


_uses = _Uses()
os.register_at_fork(after_in_child=_uses.forget)
atexit.register(_uses.remove_all)
