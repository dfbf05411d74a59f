"""Metadata of a document: front matter first, then the path rules of the configuration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmwiki.config import MetadataRule
from llmwiki.text.globs import matches_glob


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMetadata:
    """What retrieval may filter and weigh by."""

    evidence_family: str | None = None
    authority_tier: str | None = None
    version: str | None = None


def determine_metadata(
    path: str, front_matter: Mapping[str, Any], rules: Iterable[MetadataRule]
) -> DocumentMetadata:
    """Return the metadata of a document; front matter, the more specific, beats the rules."""
    values: dict[str, str | None] = dict.fromkeys(DocumentMetadata.__slots__)
    for rule in rules:
        if matches_glob(path, rule.path):
            values |= {key: value for key in values if (value := getattr(rule, key)) is not None}
    for key in values:
        value = front_matter.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            values[key] = str(value)
    return DocumentMetadata(**values)
