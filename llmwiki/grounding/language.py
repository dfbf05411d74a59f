"""Tells whether a statement is in another language than the chunks that it cites.

By script first. Between languages of the Latin script by their commonest words, and only when
the evidence is plain: a wrong suspicion costs an honest statement.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from llmwiki.grounding.evidence import ChunkFacts, count_scripts

_UNUSED = 0.02
"""A script with less than this share of the letters of the chunks is one they do not use."""
_PREVAILING = 0.5
_FEWEST_LETTERS = 40
_FEWEST_WORDS = 10
_PLAIN_SHARE = 0.2
_CHUNK_SHARE = 0.12
_WORD = re.compile(r"[^\W\d_]+")

# No word stands in two of the lists, and none is a keyword of a programming language.
_COMMON_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the of and to is are that with this it you can be as or when not by from which",
        "German": "der die das und ist nicht mit ein eine einen wird werden auf für von zu den dem "
        "sich auch wenn sind oder kann",
        "French": "le les des est une dans pour qui que sur pas avec vous par sont ce cette ou du "
        "au aux peut être",
        "Spanish": "el los las una para con por del se puede cuando como más está esta este son "
        "también sin",
        "Italian": "il gli della che di per non è sono dei nel alla questo può essere anche quando "
        "viene delle",
        "Portuguese": "o os um uma para com não são do da em no na você ao pode quando também isso",
        "Dutch": "het een van voor niet met zijn wordt deze op dat kan worden ook als bij naar "
        "door je",
        "Polish": "jest nie się że dla które który przez oraz jako można są być tego lub jeśli",
    }.items()
}


def foreign_script(text: str, cited: Sequence[ChunkFacts], max_foreign_share: float) -> str | None:
    """Return the script that the statement uses and the chunks do not, or do and it does not."""
    said, given = count_scripts(text), sum((chunk.scripts for chunk in cited), Counter[str]())
    letters, letters_given = said.total(), given.total()
    if not letters or not letters_given:
        return None
    for script, count in said.items():
        if count > max_foreign_share * letters and given[script] < _UNUSED * letters_given:
            return script
    script, count = given.most_common(1)[0]
    missing = said[script] < _UNUSED * letters and count > _PREVAILING * letters_given
    return f"no {script}" if missing and letters >= _FEWEST_LETTERS else None


def foreign_words(text: str, cited: Sequence[ChunkFacts]) -> str | None:
    """Return the language of the statement where it plainly is another than the chunks'."""
    words = _WORD.findall(text.casefold())
    if len(words) < _FEWEST_WORDS:
        return None
    said = _shares(words)
    given = _shares([word for chunk in cited for word in _WORD.findall(chunk.folded)])
    language = max(given, key=given.__getitem__)
    other = max(said, key=said.__getitem__)
    plain = said[other] >= _PLAIN_SHARE and said[other] > 3 * said[language]
    settled = given[language] >= _CHUNK_SHARE and given[language] > 3 * given[other]
    return other if other != language and plain and settled else None


def _shares(words: Sequence[str]) -> Mapping[str, float]:
    counts = Counter(words)
    total = max(1, len(words))
    return {
        language: sum(counts[word] for word in common) / total
        for language, common in _COMMON_WORDS.items()
    }
