"""The nights of a git bundle: one commit each, checked out one after the other."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A clone of a bundle whose work tree stands at one night after the other."""

    folder: Path
    commits: tuple[str, ...]
    """The oldest first; one is a night."""

    def check_out(self, night: int) -> None:
        """Put the work tree into the state of a night, counted from 1."""
        _git(self.folder, "checkout", "--quiet", "--force", "--detach", self.commits[night - 1])

    def files_changed(self, night: int) -> int:
        """Count the files that the night touches; a file that was moved counts once."""
        commit = self.commits[night - 1]
        output = _git(
            self.folder, "show", "--format=", "--name-only", "--find-renames", "-m", commit
        )
        return len(output.splitlines())


def clone(bundle: Path, folder: Path) -> History:
    """Clone a bundle; its commits are the nights, whatever the branch is called."""
    _git(folder.parent, "clone", "--quiet", "--no-checkout", str(bundle.resolve()), str(folder))
    branch = _git(folder, "for-each-ref", "--format=%(refname)", "refs/remotes/origin").split()[0]
    commits = _git(folder, "rev-list", "--reverse", "--first-parent", branch).split()
    return History(folder=folder, commits=tuple(commits))


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
