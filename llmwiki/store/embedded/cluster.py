"""One PostgreSQL cluster in one folder: made, started, found, stopped.

PATH/data       the cluster
PATH/run        the socket, when that path is one a connection string can carry
PATH/server.log everything that the programs say
PATH/alive.lock held by the server's processes themselves, so it tells whether any is alive

The functions of this class are called with PATH/start.lock held.
"""

import os
import re
import shlex
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from llmwiki.errors import DatabaseError
from llmwiki.store.embedded.account import give
from llmwiki.store.embedded.locks import POLL_SECONDS, FileLock
from llmwiki.store.embedded.programs import POSTGRESQL_MAJOR, Programs

OWNER = "llmwiki"
PORT = 5432
MAINTENANCE_DATABASE = "postgres"
START_SECONDS = 60

_SOCKET_NAME = f".s.PGSQL.{PORT}"
_LARGEST_LOG = 10_000_000
_SOCKET_PREFIX = "llmwiki-socket-"
# Within the 107 bytes of a socket address, and free of what connection strings give a meaning.
_CARRIABLE = re.compile(r"[A-Za-z0-9/._+~-]{1,85}")
# The collation is built in and the same everywhere. LC_CTYPE decides what the full-text parser
# takes for a letter: under C a dash or a curly quote is one, so a UTF-8 locale comes first.
_CHARACTER_LOCALES = ("C.UTF-8", "en_US.UTF-8", "C")
_DEFAULT_SETTINGS = {"max_connections": "100", "timezone": "UTC", "log_timezone": "UTC"}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The folder of a server and the programs that work on it."""

    home: Path
    programs: Programs

    @property
    def data(self) -> Path:
        """The folder of the cluster proper."""
        return self.home / "data"

    @property
    def log(self) -> Path:
        """Where the output of every program goes."""
        return self.home / "server.log"

    def ensure_running(self, settings: Mapping[str, str]) -> Path:
        """Return the socket folder of the server, which is started, or made, if need be."""
        with FileLock(self.home / "alive.lock") as alive:
            deadline = time.monotonic() + START_SECONDS
            while True:
                nobody_alive = alive.try_exclusive()
                folder = self.socket_folder()
                if folder and _serves(folder):
                    return folder
                # One that listens without our lock was started by hand, and is on its way.
                if nobody_alive and not (folder and _listens(folder)):
                    break
                # Recovering, shutting down, orphans of a killed server, or a live initdb.
                if time.monotonic() > deadline:
                    raise self._failure("the server that is running does not answer")
                time.sleep(POLL_SECONDS)
            self._initialise(settings, alive)
            return self._start(settings, alive)

    def stop(self) -> None:
        """Stop the server and wait until it is gone."""
        with FileLock(self.home / "alive.lock") as alive:
            folder = self.socket_folder()
            if folder is None or alive.try_exclusive():
                return  # gone already: the process number in its note may be another's by now
            command = ["pg_ctl", "stop", "-D", "data", "-m", "fast", "-w", "-t", "60"]
            if self._run(command, alive) == 0 and folder.name.startswith(_SOCKET_PREFIX):
                shutil.rmtree(folder, ignore_errors=True)

    def socket_folder(self) -> Path | None:
        """Return the socket folder that the last server noted, while its note exists."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return None
        return Path(lines[4]) if len(lines) > 4 and lines[4] else None

    def _initialise(self, settings: Mapping[str, str], alive: FileLock) -> None:
        if (version := self.data / "PG_VERSION").exists():
            self._check_version(version.read_text().strip())
            return
        if self.data.exists() and any(self.data.iterdir()):
            raise DatabaseError(
                f"{self.data} is not empty and not a PostgreSQL cluster; "
                "move it away or choose another path"
            )
        unfinished = self.home / "data.unfinished"
        command = ["initdb", "-D", unfinished.name, "-U", OWNER, "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C"]
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if settings.get("fsync") == "off":
            command.append("--no-sync")
        for locale in _CHARACTER_LOCALES:
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            give(unfinished, self.programs.account)
            if self._run([*command, f"--lc-ctype={locale}"], alive) == 0:
                unfinished.rename(self.data)
                return
        raise self._failure("initdb failed")

    def _check_version(self, version: str) -> None:
        if version != str(POSTGRESQL_MAJOR):
            raise DatabaseError(
                f"{self.data} belongs to PostgreSQL {version}, and the embedded server is "
                f"PostgreSQL {POSTGRESQL_MAJOR}; dump it with pg_dump {version} and restore it "
                "into another path, or choose another path and compile the wiki anew"
            )

    def _start(self, settings: Mapping[str, str], alive: FileLock) -> Path:
        folder = self._make_socket_folder()
        # No process of the server is alive, so its notes are stale; PostgreSQL would refuse to
        # start if its process number had meanwhile gone to another process of the account.
        for note in (self.data / "postmaster.pid", folder / f"{_SOCKET_NAME}.lock"):
            note.unlink(missing_ok=True)
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        chosen = _DEFAULT_SETTINGS | dict(settings)
        chosen |= {"listen_addresses": "", "unix_socket_directories": str(folder)}
        options = [f"-p {PORT}"]
        options += [f"-c {shlex.quote(f'{name}={value}')}" for name, value in chosen.items()]
        command = ["pg_ctl", "start", "-D", "data", "-w", "-t", str(START_SECONDS)]
        if self._run([*command, "-o", " ".join(options)], alive) != 0:
            raise self._failure("the server did not start")
        return folder

    def _make_socket_folder(self) -> Path:
        folder = self.home / "run"
        if not _CARRIABLE.fullmatch(str(folder)):
            folder = self._former_socket_folder() or Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX))
        folder.mkdir(exist_ok=True)
        give(folder, self.programs.account)
        return folder

    def _former_socket_folder(self) -> Path | None:
        """Return the temporary folder of a server that was killed, if it is still ours."""
        folder = self.socket_folder()
        if folder is None or not folder.name.startswith(_SOCKET_PREFIX) or not folder.exists():
            return None
        facts = folder.lstat()
        private = stat.S_ISDIR(facts.st_mode) and not facts.st_mode & 0o077
        return folder if private and facts.st_uid == self.programs.account.user else None

    def _run(self, command: list[str], alive: FileLock) -> int:
        return self.programs.run(command, home=self.home, log=self.log, keep_open=alive.descriptor)

    def _failure(self, what: str) -> DatabaseError:
        with self.log.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 1500))
            tail = log.read().decode(errors="replace").strip()
        return DatabaseError(
            f"embedded PostgreSQL in {self.home}: {what}; {self.log} ends:\n{tail}"
        )


def _listens(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(folder / _SOCKET_NAME))
        except OSError:
            return False
    return True


def _serves(folder: Path) -> bool:
    # Listening is not enough: the orphans of a killed server keep its socket open for a moment.
    try:
        psycopg.connect(
            host=str(folder), port=PORT, user=OWNER, dbname=MAINTENANCE_DATABASE, connect_timeout=5
        ).close()
    except psycopg.OperationalError:
        return False
    return True
