"""Folders and the account for a server that refuses to run as root.

Only folders made here are given a mode or an owner. A folder that somebody else made is
left as it is, and when it is in the way the error names it.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from llmwiki.errors import DatabaseError

ACCOUNT_NAMES = ("postgres", "nobody")
MARKER = "start.lock"


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who owns the data and runs the programs."""

    name: str
    user: int
    group: int

    @property
    def is_current(self) -> bool:
        """Whether this process already runs as that account."""
        return self.user == os.geteuid()

    def can_enter(self, folder: Path) -> bool:
        """Whether the account may pass through an existing folder."""
        facts = folder.stat()
        if facts.st_uid == self.user:
            return bool(facts.st_mode & stat.S_IXUSR)
        if facts.st_gid == self.group:
            return bool(facts.st_mode & stat.S_IXGRP)
        return bool(facts.st_mode & stat.S_IXOTH)

    def first_closed_folder(self, folder: Path) -> Path | None:
        """Return the topmost existing folder, down to this one, that bars the account."""
        for step in (*reversed(folder.parents), folder):
            if step.is_dir() and not self.can_enter(step):
                return step
        return None


def choose_account(data: Path) -> Account:
    """Return the account that runs the server whose data folder this is.

    An ordinary user runs it. For root it is the owner of existing data, else the account
    `postgres`, else `nobody`; accounts are never added.
    """
    if os.geteuid() != 0:
        return Account(name=f"user {os.geteuid()}", user=os.geteuid(), group=os.getegid())
    if data.exists() and (facts := data.stat()).st_uid != 0:
        return Account(name=f"user {facts.st_uid}", user=facts.st_uid, group=facts.st_gid)
    for name in ACCOUNT_NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, user=entry.pw_uid, group=entry.pw_gid)
    raise DatabaseError(
        "PostgreSQL refuses to run as root, and there is neither an account `postgres` nor "
        "`nobody` to run it; run llmwiki as an ordinary user"
    )


def make_home(path: Path, account: Account) -> None:
    """Make the folder that holds the server, and the parents that are missing.

    Raises DatabaseError naming the folder that the account cannot pass through.
    """
    closed = None if account.is_current else account.first_closed_folder(path)
    if closed is not None:
        raise DatabaseError(
            f"{closed} is closed to the account `{account.name}`, which runs the embedded "
            f"PostgreSQL because root may not; choose a path elsewhere, as "
            f"/var/lib/llmwiki or one under /tmp, or run llmwiki as an ordinary user"
        )
    try:
        for folder in reversed([step for step in (path, *path.parents) if not step.exists()]):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o700 if account.is_current else 0o755)
    except OSError as error:
        raise DatabaseError(f"the folder {path} cannot be made: {error.strerror}") from error
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise DatabaseError(
            f"{path} is not a folder in which this user may write; choose another path"
        )
    if not (path / MARKER).exists() and {step.name for step in path.iterdir()} - {"lost+found"}:
        raise DatabaseError(
            f"{path} holds other files; the embedded PostgreSQL needs a folder of its own"
        )


def give(folder: Path, account: Account, *, mode: int = 0o700) -> None:
    """Hand a folder that this project made to the account."""
    folder.chmod(mode)
    if not account.is_current:
        os.chown(folder, account.user, account.group)
