"""Finds the documents below the given roots: each file once, under a stable name."""

import os
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from llmwiki.errors import DocumentError
from llmwiki.ingest.roots import check_roots
from llmwiki.parsing.formats import format_of

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that may become a document."""

    path: str
    """Relative to its root, with slashes, in Unicode NFC; names the document."""
    location: Path
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a search found."""

    files: tuple[SourceFile, ...]
    """By path."""
    problems: tuple[DocumentError, ...]
    """What ought to be a document but cannot be one; by path."""
    ignored: int
    """Files whose ending is not that of a document."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A name met on the walk; ``path`` is as the file system spells it."""

    path: str
    location: Path


@dataclass(slots=True)
class _Walk:
    """The state of one search."""

    places: tuple[Path, ...]
    """Where the roots really are."""
    files: list[tuple[str, SourceFile]] = field(default_factory=list)
    """With the path as the file system spells it."""
    problems: list[DocumentError] = field(default_factory=list)
    ignored: int = 0
    folders: list[_Candidate] = field(default_factory=list)
    links: list[_Candidate] = field(default_factory=list)
    """Symbolic links wait until every real file has its name."""
    follows_links: bool = False
    visited: set[tuple[int, int]] = field(default_factory=set)


def discover(roots: Sequence[Path]) -> Discovery:
    """List the documents below the roots.

    Raises UsageError when a root is missing, is of no use, or overlaps with another.
    """
    checked = check_roots(roots)
    walk = _Walk(tuple(root.real_location for root in checked))
    for root in checked:
        _admit(walk, _Candidate(root.prefix, root.location))
    _walk_folders(walk)
    walk.follows_links = True
    while walk.links:
        links, walk.links = sorted(walk.links, key=_spelling), []
        for link in links:
            _follow(walk, link)
            _walk_folders(walk)
    files, clashes = _without_clashes(walk.files)
    return Discovery(
        files=files,
        problems=tuple(sorted([*walk.problems, *clashes], key=lambda problem: problem.path)),
        ignored=walk.ignored,
    )


def _walk_folders(walk: _Walk) -> None:
    while walk.folders:
        folder = walk.folders.pop()
        for entry in _visible_entries(walk, folder):
            path = f"{folder.path}/{entry.name}" if folder.path else entry.name
            candidate = _Candidate(path, folder.location / entry.name)
            if entry.is_symlink():
                walk.links.append(candidate)
            else:
                _admit(walk, candidate)


def _visible_entries(walk: _Walk, folder: _Candidate) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder.location) as entries:
            visible = [
                entry
                for entry in entries
                if not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS
            ]
    except OSError as error:
        problem = f"cannot be listed: {error.strerror}"
        walk.problems.append(_problem(folder.path, problem, "grant the permission to list it"))
        return []
    return sorted(visible, key=lambda entry: os.fsencode(entry.name))


def _follow(walk: _Walk, link: _Candidate) -> None:
    """Admit what a link leads to, unless the link stands inside it: that is a loop."""
    target = os.path.realpath(link.location)
    stands_in = (Path(os.path.realpath(link.location.parent)), *walk.places)
    if not any(place.is_relative_to(target) for place in stands_in):
        _admit(walk, link)


def _admit(walk: _Walk, candidate: _Candidate) -> None:
    """Sort a name into folders, files, problems and what is ignored."""
    try:
        status = candidate.location.stat()
    except OSError as error:
        walk.problems.append(_unreachable(candidate, error))
        return
    identity = (status.st_dev, status.st_ino)
    is_folder = stat.S_ISDIR(status.st_mode)
    if identity in walk.visited and (is_folder or walk.follows_links):
        return
    walk.visited.add(identity)
    if not is_folder and format_of(candidate.path) is None:
        walk.ignored += 1
    elif not _is_unicode(candidate.path):
        walk.problems.append(
            _problem(candidate.path, "has a name that is not valid UTF-8", "rename it")
        )
    elif is_folder:
        walk.folders.append(candidate)
    elif not stat.S_ISREG(status.st_mode):
        walk.problems.append(
            _problem(candidate.path, "is not a regular file", "remove it from the folder")
        )
    else:
        path = unicodedata.normalize("NFC", candidate.path)
        file = SourceFile(path=path, location=candidate.location, size=status.st_size)
        walk.files.append((candidate.path, file))


def _unreachable(candidate: _Candidate, error: OSError) -> DocumentError:
    if candidate.location.is_symlink() and not isinstance(error, PermissionError):
        return _problem(candidate.path, "is a link that leads nowhere", "correct or remove it")
    return _problem(candidate.path, f"cannot be read: {error.strerror}", "check its permissions")


def _without_clashes(
    files: Sequence[tuple[str, SourceFile]],
) -> tuple[tuple[SourceFile, ...], list[DocumentError]]:
    """Keep one file of those whose names differ in nothing but their Unicode form."""
    kept, clashes = [], []
    ordered = sorted(files, key=lambda item: (item[1].path, os.fsencode(item[0])))
    for path, group in groupby(ordered, key=lambda item: item[1].path):
        (first, file), *others = group
        kept.append(file)
        clashes += [
            _problem(path, f"is the name of two files, {first!a} and {other!a}", "rename one")
            for other, _ in others
        ]
    return tuple(kept), clashes


def _problem(path: str, problem: str, remedy: str) -> DocumentError:
    """Name a path that need not be valid Unicode in characters that can be printed and stored."""
    return DocumentError(os.fsencode(path).decode(errors="backslashreplace"), problem, remedy)


def _is_unicode(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _spelling(candidate: _Candidate) -> bytes:
    return os.fsencode(candidate.path)
