"""The configurations that an evaluation compares: settings of retrieval, by name."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from llmwiki.config import RerankSettings, RetrievalSettings
from llmwiki.errors import UsageError
from llmwiki.retrieval.wiki_pages import WikiUse

CONFIGURED = "configured"
"""The settings as they are configured."""

WIKI_KEY = "wiki"
DIVERSITY_KEY = "mmr"

_Section = TypeVar("_Section", bound=BaseModel)

_SET_BY_THE_EVALUATION = frozenset({"retrieval.limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Settings under the name that the report calls them by."""

    name: str
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    wiki: WikiUse = "gate"
    diversity: float | None = None
    """Where set, the chunks are chosen by maximal marginal relevance, with this weight of
    relevance against novelty: a baseline to compare with."""


def configure(base: Configuration, name: str, overrides: Iterable[str]) -> Configuration:
    """Return the configuration with settings replaced, each given as KEY=VALUE.

    A key is one of [retrieval], as ``fusion`` or ``weights.dense``, one of [rerank], as
    ``rerank.provider``, ``wiki``, or ``mmr``. Raises UsageError for a key or a value that cannot
    be.
    """
    sections: dict[str, dict[str, Any]] = {"retrieval": {}, "rerank": {}}
    wiki, diversity = base.wiki, base.diversity
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise UsageError(f"{override!r} is no setting; write KEY=VALUE, as fusion=rrf")
        if key == WIKI_KEY:
            wiki = _wiki_use(value)
        elif key == DIVERSITY_KEY:
            diversity = _share(value)
        else:
            _place(sections, key, value)
    return Configuration(
        name=name,
        retrieval=_replaced(base.retrieval, "retrieval", sections["retrieval"]),
        rerank=_replaced(base.rerank, "rerank", sections["rerank"]),
        wiki=wiki,
        diversity=diversity,
    )


def _wiki_use(value: str) -> WikiUse:
    for use in get_args(WikiUse):
        if value == use:
            known: WikiUse = use
            return known
    raise UsageError(f"wiki={value}: it is one of {', '.join(get_args(WikiUse))}")


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UsageError(
            f"{DIVERSITY_KEY}={value}: it is a number from 0 (novelty) to 1 (relevance)"
        )
    return share


def _place(sections: dict[str, dict[str, Any]], key: str, value: str) -> None:
    """Put the value where its key points, as ``weights.dense`` into a mapping of its own."""
    parts = key.split(".")
    section = parts.pop(0) if parts[0] in sections else "retrieval"
    if f"{section}.{'.'.join(parts)}" in _SET_BY_THE_EVALUATION:
        raise UsageError(f"{key} follows from what is measured; the deep ranking has --depth")
    target = sections[section]
    for part in parts[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise UsageError(f"{key}: {part} has a value of its own already")
    if not parts:
        raise UsageError(f"{key} is a section; name a setting of it, as retrieval.fusion")
    target[parts[-1]] = value


def _replaced(base: _Section, name: str, values: Mapping[str, Any]) -> _Section:
    if not values:
        return base
    try:
        return type(base).model_validate(_merged(base.model_dump(), values))
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join((name, *map(str, problem['loc'])))}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        )
        raise UsageError(f"{told}; known are {', '.join(_keys(base, name))}") from error


def _merged(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        known = merged.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(known, value)
        else:
            merged[key] = value
    return merged


def _keys(section: BaseModel, prefix: str) -> list[str]:
    keys = []
    for name in type(section).model_fields:
        value = getattr(section, name)
        path = f"{prefix}.{name}"
        keys += _keys(value, path) if isinstance(value, BaseModel) else [path]
    return keys
