"""Authority and version: gates that a witness must pass, and what decides between equals.

Neither is ever added to relevance. A chunk that does not discuss the question is not made a
better answer by its office, and one of unknown origin is no witness where an origin is required.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import eq, ge, gt, le, lt, ne

from llmwiki.store.found_chunks import FoundChunk

_PART = re.compile(r"\d+|[^\W\d_]+")
_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|=|>|<|)\s*([^\s<>=!,]+)\s*")
_OPERATORS = {">=": ge, "<=": le, "==": eq, "=": eq, "": eq, "!=": ne, ">": gt, "<": lt}
_LONGEST_NUMBER = 12
"""Digits of a version's part; a longer one is no version."""

VersionKey = tuple[tuple[int, str], ...]

_ZERO = (1, "")
"""The key of a part that is zero, and of one that is not written: 1.24 is 1.24.0."""


@dataclass(frozen=True, slots=True)
class VersionConstraint:
    """Comparisons that a version must all satisfy, as ``>=1.24,<2`` or ``2026-07``."""

    text: str
    comparisons: tuple[tuple[str, str], ...]

    def allows(self, version: str | None) -> bool:
        """Tell whether the version is known and satisfies every comparison."""
        if version is None or not is_version(version):
            return False
        return all(
            _OPERATORS[operator](*_aligned(version, bound)) for operator, bound in self.comparisons
        )

    def __str__(self) -> str:
        return self.text


def read_constraint(text: str) -> VersionConstraint:
    """Return the constraint. Raises ValueError for what is none."""
    comparisons = []
    for part in text.split(","):
        match = _COMPARISON.fullmatch(part)
        if match is None or not is_version(match[2]):
            message = (
                f"{text!r} is no version constraint; write comparisons as `>=1.24,<2` or a "
                "version as `2026-07`"
            )
            raise ValueError(message)
        comparisons.append((match[1], match[2]))
    return VersionConstraint(text.strip(), tuple(comparisons))


def is_version(text: str) -> bool:
    """Tell whether the text has a number to compare."""
    numbers = [part for part in _PART.findall(text) if part.isdecimal()]
    return bool(numbers) and all(len(number) <= _LONGEST_NUMBER for number in numbers)


def version_key(version: str | None) -> VersionKey:
    """Return a key by which versions sort, the unknown first.

    Parts are compared as numbers, and letters come before any number: 2.0rc1 < 2.0 < 2.0.1 and
    1.9 < 1.10. A leading v means nothing.
    """
    if version is None or not is_version(version):
        return ()
    parts = _PART.findall(version.casefold())
    if parts[0] == "v":
        parts = parts[1:]
    numbered = ((int(part) + 1, "") if part.isdecimal() else (0, part) for part in parts)
    return (*numbered, _ZERO)


def has_authority(tier: str | None, minimum: str | None, tiers: Sequence[str]) -> bool:
    """Tell whether a chunk's tier is the minimum or better; an unknown tier is below all."""
    if minimum is None:
        return True
    return authority_rank(tier, tiers) <= authority_rank(minimum, tiers)


def authority_rank(tier: str | None, tiers: Sequence[str]) -> int:
    """Return the place of a tier, 0 for the highest; after the last for an unknown one."""
    return tiers.index(tier) if tier in tiers else len(tiers)


def precedence(chunk: FoundChunk, tiers: Sequence[str]) -> tuple[int, VersionKey]:
    """Return what decides between witnesses that are equally relevant: the greater one wins."""
    return (-authority_rank(chunk.authority_tier, tiers), version_key(chunk.version))


def _aligned(version: str, bound: str) -> tuple[VersionKey, VersionKey]:
    pairs = list(zip_longest(version_key(version), version_key(bound), fillvalue=_ZERO))
    return tuple(left for left, _ in pairs), tuple(right for _, right in pairs)
