"""What a text speaks of: its words and, worth more, its identifiers, options and numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log2

from llmwiki.text.identifiers import find_identifiers

_ADDRESS = re.compile(r"(?:https?|ftp)://\S+")
_MENTION = re.compile(r"(?<![\w`@])@[\w-]+(?![\w.(\[])")
_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]{1,60})`(?!`)")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?:\s?(?:%|[kMGT]i?B|ms|s|Hz)\b)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")

STOP_WORDS = frozenset(
    """a able about above across actually add added after again all allow allows also although
    always am an and any are as at based be because been before being below between both br
    but by can cannot case cases com come contain contains could create created currently
    default details did didn different directly do docs does doesn doing don don't done down
    during each either else etc even ever every example examples few file files find first
    folks follow following for from further get gets getting github give given go goes going
    guide had has have having he help her here hers him his how however html http https i if
    in include included includes including information instance instead into is isn it it's
    its itself just keep know last learn least less let let's lets like line list ll look made
    main make makes making many may me means might more most much must my need needed needs
    neither never new next no nor not note now of off often on once one only onto or org other
    others our out over own page part per please possible pr provide provided provides rather
    re read refer right run running same section see set sets several shall she should show
    shown shows simple simply since so some something specific specified start step steps
    still such support supported supports sure take takes than thanks that the their them then
    there therefore these they thing things this those through thus time to together too try
    two type types under understand until up upon us use used useful user users uses using
    usually value values various ve version very via want wants was way ways we well were what
    when where whether which while who whom whose why will with within without work works
    would write www yes yet you your yours""".split()  # noqa: SIM905 - a list of one word a line would fill pages
)


_IDENTIFIER_WEIGHT = 5.0
_TITLE_FACTOR = 1.5


@dataclass(frozen=True, slots=True)
class Concepts:
    """What a text speaks of, each once."""

    words: frozenset[str]
    """Folded, so that two forms of a word are one."""
    identifiers: frozenset[str]
    """And options, code spans and numbers."""

    @property
    def all(self) -> frozenset[str]:
        """Both."""
        return self.words | self.identifiers


def find_concepts(text: str) -> Concepts:
    """Return the concepts of a text; the addresses in it do not count."""
    prose = without_addresses(text)
    identifiers = set(find_identifiers(prose))
    identifiers.update(span.strip().casefold() for span in _CODE_SPAN.findall(prose))
    identifiers.update(number.rstrip(".,") for number in _NUMBER.findall(prose))
    return Concepts(fold_words(find_words(prose)), frozenset(identifiers))


def without_addresses(text: str) -> str:
    """Return the text without addresses of the web and people's names after an ``@``."""
    if "://" in text:
        text = _ADDRESS.sub(" ", text)
    return _MENTION.sub(" ", text) if "@" in text else text


def find_words(text: str) -> list[str]:
    """Return the words that carry meaning, lower-cased, in order."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def fold_words(words: Iterable[str]) -> frozenset[str]:
    """Return the words without their inflection; pairs of characters where no blanks are."""
    return frozenset(form for word in words for form in fold_word(word))


@lru_cache(maxsize=1 << 16)
def fold_word(word: str) -> tuple[str, ...]:
    """Fold one word. For English the plural goes: enough to see that two sentences say the same."""
    if _UNSPACED.match(word):
        return tuple(word[start : start + 2] for start in range(len(word) - 1)) or (word,)
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return (word[:-1],)
    return (word,)


def weigh_concepts(units: Iterable[Concepts], title_words: frozenset[str]) -> Mapping[str, float]:
    """Weigh each concept by the units that have it; what the title names weighs more."""
    words: Counter[str] = Counter()
    identifiers: Counter[str] = Counter()
    for unit in units:
        words.update(unit.words)
        identifiers.update(unit.identifiers)
    weights = {
        word: log2(1 + count) * (_TITLE_FACTOR if word in title_words else 1.0)
        for word, count in words.items()
    }
    for identifier, count in identifiers.items():
        weights[identifier] = weights.get(identifier, 0.0) + _IDENTIFIER_WEIGHT + log2(1 + count)
    return weights
