"""Slugs: readable, safe in URLs and file names, and distinct where the names are."""

import unicodedata
from itertools import groupby

_MAX_LENGTH = 80


def _is_safe(character: str) -> bool:
    """Letters, digits and the marks that many scripts write them with."""
    return character in "-._" or character.isalnum() or unicodedata.category(character)[0] == "M"


def slugify(text: str) -> str:
    """Return a slug of one path segment.

    Letters of every script stay (two Chinese titles never meet in one slug), case is folded,
    and whatever is unsafe becomes a hyphen. Empty for a text without a letter or a digit.
    Two texts can still share a slug; the caller that needs distinct ones numbers them.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    runs = groupby(unicodedata.normalize("NFC", folded), _is_safe)
    hyphened = "".join("".join(run) if safe else "-" for safe, run in runs)
    return hyphened.strip("-._")[:_MAX_LENGTH].rstrip("-._")


def slugify_path(path: str) -> str:
    """Return the slugs of the path's segments, joined by slashes; empty segments are left out."""
    slugs = (slugify(segment) for segment in path.split("/"))
    return "/".join(slug for slug in slugs if slug)
