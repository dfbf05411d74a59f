"""Chooses the TLDR and the tags of a page that is made of its sources' own sentences."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from llmwiki.compiler.drafts.chunk_blocks import without_marker
from llmwiki.compiler.drafts.concepts import Concepts, find_words, fold_word, without_addresses
from llmwiki.compiler.drafts.prose_signals import (
    continues,
    is_boilerplate,
    is_chatty,
    is_definition,
    is_informative,
    is_question,
)
from llmwiki.compiler.drafts.source_sections import SourceSection
from llmwiki.compiler.drafts.units import Unit
from llmwiki.domain import SourceChunk, Statement

SHORTEST_TLDR = 40
LONGEST_TLDR = 300
MOST_TAGS = 6

_TAGS_FROM_HEADINGS = 3
_TAGS_FROM_IDENTIFIERS = 2
_SHORTEST_TAG = 3
_LONGEST_TAG = 30
_NAME = re.compile(r"(?!.*__)[^\W\d_][\w-]{2,}")


def choose_tldr(
    units: Sequence[Unit],
    concepts: Sequence[Concepts],
    sections: Sequence[SourceSection],
    title_words: frozenset[str],
) -> Statement:
    """Return the sentence that says best what the topic is; the earliest of equals.

    Where there is no sentence, a list item serves, then the first line of whatever there is.
    """
    best: tuple[float, Unit] | None = None
    first_section = _first_section_of_sentences(units)
    place = section = -1
    for unit, unit_concepts in zip(units, concepts, strict=True):
        place = place + 1 if unit.section == section else 0
        section = unit.section
        if unit.kind != "prose" or unit.is_opener:
            continue
        named = len(title_words & unit_concepts.words) / max(1, min(len(title_words), 3))
        score = _aptness(unit, is_first=unit is units[0]) + 2.0 * min(named, 1.0)
        score += 4.0 if section <= first_section else 0.0
        score -= 0.4 * place + 0.2 * min(section, 20)
        score -= 10.0 if sections[section].is_navigation else 0.0
        if best is None or score > best[0]:
            best = score, unit
    if best is None:
        return _first_line(units)
    return Statement(text=without_marker(best[1].text), chunk_ids=best[1].chunk_ids)


def _first_section_of_sentences(units: Sequence[Unit]) -> int:
    sentences = (unit for unit in units if unit.form == "sentence" and is_informative(unit.text))
    return next((unit.section for unit in sentences), 0)


def _aptness(unit: Unit, *, is_first: bool) -> float:
    """Return how well a unit can stand alone as the summary of a page.

    "This service …" leans on nothing where the page begins with it.
    """
    text = without_marker(unit.text)
    score = 1.0 if unit.is_lead else 0.0
    score += 2.5 if is_definition(text) else 0.0
    score += 1.5 if SHORTEST_TLDR <= len(text) <= LONGEST_TLDR else 0.0
    score -= 3.0 if unit.form == "item" else 0.0
    score -= 4.0 if is_boilerplate(text) else 0.0
    score -= 1.0 if is_chatty(text) else 0.0
    score -= 6.0 if is_question(text) else 0.0
    if continues(text) or unit.needs is not None:
        score -= 1.0 if is_first else 4.0
    score -= 0.0 if is_informative(text) else 10.0
    return score


def _first_line(units: Sequence[Unit]) -> Statement:
    """Return the caption of the first block, or its first line that has a letter."""
    unit = units[0]
    lines = unit.text.split("\n")
    inner = lines[1:-1] if unit.form == "code" else lines
    worded = (line for line in inner if any(character.isalnum() for character in line))
    return Statement(text=next(worded, unit.text).strip(), chunk_ids=unit.chunk_ids)


def choose_tags(
    chunks: Sequence[SourceChunk], concepts: Sequence[Concepts], title: str
) -> tuple[str, ...]:
    """Return lower-case tags: what headings name, identifiers in use, the most frequent words."""
    headings = _distinct([title, *(heading for chunk in chunks for heading in chunk.breadcrumb)])
    named = _distinct(word for heading in headings for word in find_words(heading))
    frequent = _frequent_words([*(chunk.text for chunk in chunks), *headings], concepts)
    rank = {word: place for place, word in enumerate(frequent)}
    named.sort(key=lambda word: rank.get(word, len(rank)))
    first = named[:_TAGS_FROM_HEADINGS] + _frequent_identifiers(concepts)[:_TAGS_FROM_IDENTIFIERS]
    tags = (
        tag for tag in [*first, *frequent, *named] if len(tag) >= _SHORTEST_TAG or not tag.isascii()
    )
    return tuple(_distinct(tags)[:MOST_TAGS])


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _frequent_words(texts: Iterable[str], concepts: Iterable[Concepts]) -> list[str]:
    """Return the words by how many units have them, each in its most frequent form."""
    spread = Counter(word for unit in concepts for word in unit.words)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    counts = Counter(word for text in texts for word in find_words(without_addresses(text)))
    for form, count in counts.items():
        folded = fold_word(form)
        if len(folded) == 1:
            forms[folded[0]][form] = count
    ordered = sorted(forms, key=lambda word: (-spread[word], -forms[word].total(), word))
    return [min(forms[word], key=lambda form: (-forms[word][form], form)) for word in ordered]


def _frequent_identifiers(concepts: Iterable[Concepts]) -> list[str]:
    counts = Counter(name for unit in concepts for name in unit.identifiers if _is_nameable(name))
    repeated = [name for name, count in counts.items() if count > 1]
    return sorted(repeated, key=lambda name: (-counts[name], name))


def _is_nameable(identifier: str) -> bool:
    return len(identifier) <= _LONGEST_TAG and _NAME.fullmatch(identifier) is not None
