"""Tells which details of a statement its sources do not have: numbers, identifiers, addresses.

A detail is compared as a whole token: 10 is not found in 2010, nor 1.5 in 1.50, nor 5 % in 5.
Everything takes time linear in the text; no expression can be made to backtrack far. Some look
back after their first character, where before it would read easier: a literal first character
is searched for thirty times as fast.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from llmwiki.text.hashing import normalise
from llmwiki.text.identifiers import find_identifiers

_URL = re.compile(
    r"https?://[^\s<>\"'`\[\]{}|\\\u3000-\u303f\uff00-\uffef]+",
    re.IGNORECASE,
)
_ENDS_NO_URL = frozenset(".,;:!?*_…/")
_LIST_MARKER = re.compile(r"^[ \t>]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_EMPHASIS = re.compile(r"_(?<!\w_)([^_]+)_(?!\w)")
_INNER = r"\1"
_GROUPED_DIGITS = re.compile(r"(?<![\d.])\d{1,3}(?:[,_'\u2019\u00a0\u2009\u202f]\d{3})+(?!\d)")
_LEADING_POINT = re.compile(r"\.(?<![\w.]\.)(?=\d)")
_NUMBER = re.compile(
    r"(\d+(?:\.\d+)*)"
    r"(?:(\s?%|\s(?:percent|per\scent)\b)|((?:st|nd|rd|th)\b))?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v?\d")
_OPENS = frozenset(" ([{\"'`*“«„")
_CLOSES = frozenset(" )]}\"'`*”»“")


def unsupported_details(statement: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the details of the statement that none of the sources has, addresses first.

    A statement that stands in a source word for word has none.
    """
    wanted = normalise(statement)
    if any(_stands_whole(wanted, _normalised(source)) for source in sources):
        return ()
    prose = _EMPHASIS.sub(_INNER, _LIST_MARKER.sub(" ", statement))
    rest = _URL.sub(" ", prose)
    urls = [url for url in _urls(prose) if not any(url in _urls_of(text) for text in sources)]
    identifiers = [
        name
        for name in _identifiers(rest)
        if not any(_stands_in(name, _lowered(text)) for text in sources)
    ]
    # The number in an identifier that is reported already would only repeat it.
    reported = set(_numbers(" ".join(identifiers)))
    numbers = [
        number
        for number in _numbers(rest)
        if number not in reported and not any(number in _numbers_of(text) for text in sources)
    ]
    return tuple(dict.fromkeys((*urls, *identifiers, *numbers)))


# The statements of a page cite the same few chunks, so each is taken apart once.


@lru_cache(maxsize=1024)
def _normalised(source: str) -> str:
    return normalise(source)


@lru_cache(maxsize=1024)
def _lowered(source: str) -> str:
    # A name that the source emphasises counts with its underscores and without.
    plain = _EMPHASIS.sub(_INNER, source) if "_" in source else source
    both = source if plain == source else f"{source} {plain}"
    return normalise(both).lower()


@lru_cache(maxsize=1024)
def _urls_of(source: str) -> frozenset[str]:
    return frozenset(_urls(source))


@lru_cache(maxsize=1024)
def _numbers_of(source: str) -> frozenset[str]:
    return frozenset(_numbers(source))


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
    for digits, percent, ordinal in _NUMBER.findall(_LEADING_POINT.sub("0.", plain)):
        if not ordinal:
            yield f"{digits}%" if percent else digits
