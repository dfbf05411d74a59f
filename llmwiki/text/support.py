"""Tells which details of a statement its sources do not have: numbers, identifiers, addresses.

A detail is compared as a whole token: 10 is not found in 2010, nor 1.5 in 1.50, nor 5 % in 5.
Everything takes time linear in the text; no expression can be made to backtrack far.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from llmwiki.text.hashing import normalise
from llmwiki.text.identifiers import find_identifiers

_URL = re.compile(
    r"https?://[^\s<>\"'`\[\]{}|\\\u3000-\u303f\uff00-\uffef]+",
    re.IGNORECASE,
)
_ENDS_NO_URL = frozenset(".,;:!?*_…/")
_LIST_MARKER = re.compile(r"^[ \t>]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\w)_([^_]+)_(?!\w)")
_INNER = r"\1"
_GROUPED_DIGITS = re.compile(r"(?<![\d.])\d{1,3}(?:[,_'\u2019\u00a0\u2009\u202f]\d{3})+(?!\d)")
_NUMBER = re.compile(
    r"(?P<digits>(?:(?<![\w.])\.)?\d+(?:\.\d+)*)"
    r"(?:(?P<percent>\s?%|\s(?:percent|per\scent)\b)|(?P<ordinal>(?:st|nd|rd|th)\b))?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v?\d")
_OPENS = frozenset(" ([{\"'`*“«„")
_CLOSES = frozenset(" )]}\"'`*”»“")


@dataclass(frozen=True, slots=True)
class _Details:
    urls: frozenset[str]
    identifiers: frozenset[str]
    numbers: frozenset[str]
    lowered: str


def unsupported_details(statement: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the details of the statement that none of the sources has, addresses first.

    A statement that stands in a source word for word has none.
    """
    wanted = normalise(statement)
    if any(_stands_whole(wanted, _normalised(source)) for source in sources):
        return ()
    known = [_details_of(source) for source in sources]
    prose = _EMPHASIS.sub(_INNER, _LIST_MARKER.sub(" ", statement))
    urls = [url for url in _urls(prose) if not any(url in source.urls for source in known)]
    rest = _URL.sub(" ", prose)
    identifiers = [name for name in _identifiers(rest) if not _names(name, known)]
    # The number in an identifier that is reported already would only repeat it.
    reported = set(_numbers(" ".join(identifiers)))
    numbers = [
        number
        for number in _numbers(rest)
        if number not in reported and not any(number in source.numbers for source in known)
    ]
    return tuple(dict.fromkeys((*urls, *identifiers, *numbers)))


@lru_cache(maxsize=1024)
def _normalised(source: str) -> str:
    return normalise(source)


@lru_cache(maxsize=1024)
def _details_of(source: str) -> _Details:
    # A name that the source emphasises counts with its underscores and without.
    both = f"{source}\n{_EMPHASIS.sub(_INNER, source)}" if "_" in source else source
    return _Details(
        urls=frozenset(_urls(both)),
        identifiers=frozenset(_identifiers(both)),
        numbers=frozenset(_numbers(both)),
        lowered=normalise(both).lower(),
    )


def _stands_whole(wanted: str, text: str) -> bool:
    """Tell whether the text has the wanted one so that it begins and ends where words do."""
    start = text.find(wanted)
    while wanted and start >= 0:
        end = start + len(wanted)
        before, after = text[start - 1 : start], text[end : end + 1]
        if (not before or before in _OPENS) and (not after or after in _CLOSES):
            return True
        start = text.find(wanted, end)
    return not wanted


def _urls(text: str) -> Iterable[str]:
    return map(_without_punctuation, _URL.findall(text))


def _without_punctuation(url: str) -> str:
    """Cut what the sentence adds: punctuation, and brackets that the address did not open."""
    end = len(url)
    surplus = url.count(")") - url.count("(")
    while end and (url[end - 1] in _ENDS_NO_URL or (url[end - 1] == ")" and surplus > 0)):
        surplus -= url[end - 1] == ")"
        end -= 1
    return url[:end]


def _identifiers(text: str) -> Iterable[str]:
    """Yield names; versions count as numbers, and "e.g." is a word."""
    for name in find_identifiers(text):
        abbreviation = all(len(part) == 1 for part in name.split("."))
        if not abbreviation and not _VERSION.match(name):
            yield name


def _names(name: str, sources: Iterable[_Details]) -> bool:
    return any(name in source.identifiers or _stands_in(name, source.lowered) for source in sources)


def _stands_in(name: str, text: str) -> bool:
    """Tell whether the name occurs as a word: in os.path.join, os.path does; os.pat does not."""
    start = text.find(name)
    while start >= 0:
        before = text[start - 1 : start]
        after = text[start + len(name) :][:2]
        continues = _in_word(after[:1]) or (after[:1] == "-" and _in_word(after[1:]))
        if not _in_word(before) and not continues and not (before == name[0] == "-"):
            return True
        start = text.find(name, start + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _numbers(text: str) -> Iterable[str]:
    """Yield numbers without separators of thousands, with their percent sign, no ordinals."""
    plain = _GROUPED_DIGITS.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    for match in _NUMBER.finditer(plain):
        if not match["ordinal"]:
            yield match["digits"] + ("%" if match["percent"] else "")
