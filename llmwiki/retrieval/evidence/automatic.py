"""Families that nobody declared: names of the corpus that the question holds, at least two.

A question that names two things needs a chunk on each, and the second is easily crowded out by
the first. A capital letter is no sign of a name; only what the corpus itself calls so is. Where
the question names one thing alone, the second may be what the chunk on the first leads to: the
singer of the song that was asked about, named in the chunk on the song.

Measured beside top-k and diversity in docs/evaluation.md: where titles are followed already, these
families complete a few questions more and cost none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from sqlalchemy import Connection

from llmwiki.domain import ChunkId, Collection, DocumentId
from llmwiki.retrieval.candidates import Candidate
from llmwiki.retrieval.evidence.families import NamedFamily
from llmwiki.store import corpus_names
from llmwiki.store.corpus_names import BEARERS_READ, CorpusName
from llmwiki.store.word_statistics import lexeme_frequencies, rarity, read_extents

FEWEST = 2
"""Families. A question that names one thing is served by the ordinary ranking."""

MOST_NAMED = 3
MOST_MENTIONED = 2
"""Families of one question."""

MOST_BEARERS = 3
"""Documents of one name. `Introduction` and `Examples` head many, and name none."""

RARITY_OF_NAMED = 0.3
RARITY_OF_MENTIONED = 0.7
"""What the words of a name must weigh together, in weights of a word that no chunk holds. A
chunk has more words than a question, so that more of them are names by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """A text, and what is called by runs of its words."""

    lexemes: tuple[str, ...]
    names: Mapping[str, Sequence[CorpusName]]
    """The bearers of each key that is rare enough, and few enough."""
    weights: Mapping[str, float]
    """The rarity of lexemes, in that of a word that no chunk holds."""
    below: Mapping[ChunkId, frozenset[ChunkId]] = field(default_factory=dict)
    """The sections under the heading of each section that bears a name, itself included."""

    def weight(self, key: str) -> float:
        """Return what the words of a name weigh together."""
        return sum(self.weights.get(lexeme, 0.0) for lexeme in set(key.split(" ")))


def automatic_families(
    connection: Connection,
    collections: Sequence[Collection],
    question: str,
    candidates: Sequence[Candidate],
) -> tuple[NamedFamily, ...]:
    """Return the families that the question names, and those that their witnesses name.

    Two at least, or none. ``candidates`` is what was found, the best first. What no candidate
    stands in is no family: its name is in the question by chance, or by its stem alone.
    """
    families: list[NamedFamily] = []
    for _, group in groupby(sorted(collections, key=_language), key=_language):
        families += _among(connection, list(group), question, candidates)
    return tuple(families) if len(families) >= FEWEST else ()


def _among(
    connection: Connection,
    collections: Sequence[Collection],
    question: str,
    candidates: Sequence[Candidate],
) -> list[NamedFamily]:
    """Return the families of collections whose lexemes are made the same way."""
    extents = read_extents(connection, collections)
    chunks = sum(extent.chunks for extent in extents.values())
    asked = read_names(connection, collections, chunks, question, least=RARITY_OF_NAMED)
    first = {
        family: witness
        for family in named_families(asked)
        if (witness := _first_witness(family, candidates)) is not None
    }
    named = list(first)
    mentioned: list[NamedFamily] = []
    for witness in {each.id: each for each in first.values()}.values():
        naming = read_names(
            connection,
            collections,
            chunks,
            witness.chunk.text,
            least=RARITY_OF_MENTIONED,
        )
        mentioned += mentioned_families(naming, candidates, [*named, *mentioned])
    return [*named, *mentioned[:MOST_MENTIONED]]


def _first_witness(family: NamedFamily, candidates: Sequence[Candidate]) -> Candidate | None:
    return next((each for each in candidates if family.is_member(each.chunk)), None)


def read_names(
    connection: Connection,
    collections: Sequence[Collection],
    chunks: int,
    words: str,
    *,
    least: float,
) -> Naming:
    """Look up every run of words of a text among the names of the corpus.

    A name counts whose words weigh ``least`` together.
    """
    lexemes = corpus_names.lexemes_in_order(connection, collections, words)
    keys = {key for _, _, key in corpus_names.runs_of(lexemes)}
    bearers: dict[str, list[CorpusName]] = {}
    for name in corpus_names.names_with(connection, collections, keys):
        bearers.setdefault(name.key, []).append(name)
    if not bearers:
        return Naming(lexemes=lexemes, names={}, weights={})
    held = sorted({lexeme for key in bearers for lexeme in key.split(" ")})
    unheard = rarity(chunks, 0)
    weights = {
        lexeme: rarity(chunks, frequency) / unheard
        for lexeme, frequency in lexeme_frequencies(connection, collections, held).items()
    }
    naming = choose_names(Naming(lexemes=lexemes, names=bearers, weights=weights), least)
    sections = [
        bearer.section_id
        for of in naming.names.values()
        for bearer in of
        if bearer.section_id is not None
    ]
    if not sections:
        return naming
    return replace(naming, below=corpus_names.sections_below(connection, sections))


def choose_names(naming: Naming, least: float) -> Naming:
    """Keep the names that tell parts of the corpus apart."""
    return replace(
        naming,
        names={
            key: bearers
            for key, bearers in naming.names.items()
            if any(bearer.kind == "family" for bearer in bearers)
            or (
                len({bearer.document_id for bearer in bearers}) <= MOST_BEARERS
                and len(bearers) < BEARERS_READ
                and naming.weight(key) >= least
            )
        },
    )


def named_families(naming: Naming) -> tuple[NamedFamily, ...]:
    """Return what the question names, in its order, without names inside of longer ones."""
    spans = sorted(
        (
            (start, end, key)
            for start, end, key in corpus_names.runs_of(naming.lexemes)
            if key in naming.names
        ),
        key=lambda span: (span[0] - span[1], span[0]),
    )
    taken: set[int] = set()
    chosen: dict[str, int] = {}
    for start, end, key in spans:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            chosen.setdefault(key, start)
    weightiest = sorted(chosen, key=lambda key: (-naming.weight(key), key))[:MOST_NAMED]
    return _distinct(_family(naming, key) for key in sorted(weightiest, key=chosen.__getitem__))


def mentioned_families(
    naming: Naming, ranking: Sequence[Candidate], known: Sequence[NamedFamily]
) -> tuple[NamedFamily, ...]:
    """Return what a witness names of what was found for the question, the best found first."""
    found = [replace(_family(naming, key), origin="mentioned") for key in naming.names]
    ranked = (
        next((family for family in found if family.is_member(candidate.chunk)), None)
        for candidate in ranking
        if not any(family.is_member(candidate.chunk) for family in known)
    )
    return _distinct(family for family in ranked if family is not None)[:MOST_MENTIONED]


def _family(naming: Naming, key: str) -> NamedFamily:
    documents: set[DocumentId] = set()
    sections: set[ChunkId] = set()
    metadata = None
    for bearer in naming.names[key]:
        if bearer.kind == "family":
            metadata = bearer.name
        elif bearer.section_id is None:
            documents.add(bearer.document_id)
        else:
            sections |= naming.below.get(bearer.section_id, {bearer.section_id})
    return NamedFamily(
        name=metadata or naming.names[key][0].name,
        origin="named",
        documents=frozenset(documents),
        sections=frozenset(sections),
        metadata=metadata,
    )


def _language(collection: Collection) -> str:
    return collection.text_search_config


def _distinct(families: Iterable[NamedFamily]) -> tuple[NamedFamily, ...]:
    """Leave out families that hold what another holds, under another name."""
    by_members = {
        (family.documents, family.sections, family.metadata): family
        for family in reversed(tuple(families))
    }
    return tuple(reversed(by_members.values()))
