"""Checks the folders and files that an ingest starts from."""

import os
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from llmwiki.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A folder or a file to start from."""

    location: Path
    real_location: Path
    """The same without symbolic links."""
    prefix: str
    """What the paths below it begin with."""


def check_roots(roots: Sequence[Path]) -> tuple[Root, ...]:
    """Return the roots with their prefixes.

    Raises UsageError when there is none, when one is missing or of no use, and when two would
    give the same file two names, or two files the same name.
    """
    if not roots:
        raise UsageError("no folder is given; name at least one")
    checked = tuple(_check(root, alone=len(roots) == 1) for root in roots)
    _refuse_overlaps(checked)
    _refuse_same_names(checked)
    return checked


def _check(root: Path, *, alone: bool) -> Root:
    try:
        mode = root.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{root} does not exist; name a folder of documents") from error
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}; check the path") from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(f"{root} is neither a folder nor a file; name a folder of documents")
    # `abspath` names `.` and `..` and keeps the name of a link.
    name = os.path.basename(os.path.abspath(root))  # noqa: PTH100, PTH119
    real_location = Path(os.path.realpath(root))
    prefix = "" if alone and stat.S_ISDIR(mode) else name
    return Root(location=root, real_location=real_location, prefix=prefix)


def _refuse_overlaps(roots: Sequence[Root]) -> None:
    """Compare neighbours only: sorted by parts, a folder directly precedes what it contains."""
    for outer, inner in pairwise(sorted(roots, key=lambda root: root.real_location.parts)):
        if inner.real_location.is_relative_to(outer.real_location):
            raise UsageError(
                f"{outer.location} and {inner.location} overlap, so that files would be read "
                "twice; name only one of them"
            )


def _refuse_same_names(roots: Sequence[Root]) -> None:
    by_name: dict[str, Root] = {}
    for root in roots:
        other = by_name.setdefault(unicodedata.normalize("NFC", root.prefix), root)
        if other is not root:
            raise UsageError(
                f"{other.location} and {root.location} have the same name, which begins the "
                "paths of their documents; rename one or name their parent folder"
            )
