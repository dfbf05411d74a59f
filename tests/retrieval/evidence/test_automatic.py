from collections.abc import Sequence
from dataclasses import replace

from llmwiki.domain import ChunkId, CollectionId, DocumentId
from llmwiki.retrieval.evidence.automatic import (
    MOST_BEARERS,
    MOST_MENTIONED,
    MOST_NAMED,
    Naming,
    choose_names,
    mentioned_families,
    named_families,
)
from llmwiki.retrieval.evidence.families import NamedFamily
from llmwiki.store.corpus_names import CorpusName, NameKind
from tests.retrieval.evidence.candidates import candidate, chunk


def bearer(
    key: str, document: int, kind: NameKind = "title", section: int | None = None
) -> CorpusName:
    return CorpusName(
        key=key,
        kind=kind,
        name=key.title(),
        collection_id=CollectionId(1),
        document_id=DocumentId(document),
        section_id=None if section is None else ChunkId(section),
    )


def naming(words: str, *bearers: CorpusName, weight: float = 0.8, least: float = 0.3) -> Naming:
    names: dict[str, list[CorpusName]] = {}
    for each in bearers:
        names.setdefault(each.key, []).append(each)
    lexemes = tuple(words.split())
    weights = dict.fromkeys(lexemes, weight)
    return choose_names(Naming(lexemes=lexemes, names=names, weights=weights), least)


def names(families: Sequence[NamedFamily]) -> list[str]:
    return [family.name for family in families]


def test_names_are_read_off_in_the_order_of_the_question() -> None:
    of = naming("how do pump and valve differ", bearer("valve", 1), bearer("pump", 2))
    assert names(named_families(of)) == ["Pump", "Valve"]


def test_the_longest_name_stands_for_those_inside_of_it() -> None:
    of = naming("a service account token", bearer("service account token", 1), bearer("account", 2))
    assert names(named_families(of)) == ["Service Account Token"]


def test_a_shorter_name_counts_where_it_stands_by_itself() -> None:
    of = naming("account or service account", bearer("service account", 1), bearer("account", 2))
    assert names(named_families(of)) == ["Account", "Service Account"]


def test_common_words_are_no_names() -> None:
    assert named_families(naming("model", bearer("model", 1), weight=0.1)) == ()
    assert names(named_families(naming("a b c", bearer("a b c", 1), weight=0.1))) == ["A B C"]


def test_what_many_documents_are_called_names_none_of_them() -> None:
    bearers = [bearer("example", number) for number in range(MOST_BEARERS + 1)]
    assert named_families(naming("example", *bearers)) == ()
    [family] = named_families(naming("example", *bearers[1:]))
    assert len(family.documents) == MOST_BEARERS


def test_a_value_of_metadata_is_a_name_however_common() -> None:
    of = naming("drives", bearer("drives", 1, "family"), bearer("drives", 2), weight=0.01)
    [family] = named_families(of)
    assert family.metadata == "Drives"
    assert family.is_member(chunk(7, evidence_family="drives"))
    assert family.is_member(chunk(2))
    assert not family.is_member(chunk(3))


def test_a_heading_holds_its_sections_and_those_below_it() -> None:
    of = naming("restore", bearer("restore", 1, "heading", 1001))
    below = replace(of, below={ChunkId(1001): frozenset({ChunkId(1001), ChunkId(1002)})})
    [family] = named_families(below)
    assert family.is_member(chunk(2))
    assert not family.is_member(chunk(3, document_id=DocumentId(1)))


def test_two_names_of_the_same_place_are_one_family() -> None:
    of = naming("pump or machine", bearer("pump", 1), bearer("machine", 1))
    assert names(named_families(of)) == ["Pump"]


def test_the_weightiest_names_are_kept() -> None:
    words = [f"w{number}" for number in range(6)]
    of = naming(" ".join(words), *(bearer(word, number) for number, word in enumerate(words)))
    heavy = replace(of, weights={**of.weights, "w5": 0.9})
    assert len(named_families(heavy)) == MOST_NAMED
    assert names(named_families(heavy))[-1] == "W5"


RANKING = tuple(candidate(number) for number in range(1, 9))


def test_what_a_witness_names_is_a_family_where_it_was_found() -> None:
    known = named_families(naming("song", bearer("song", 1)))
    of = naming(
        "the singer in elsewhere", bearer("singer", 5), bearer("elsewhere", 77), bearer("song", 1)
    )
    [family] = mentioned_families(of, RANKING, known)
    assert (family.name, family.origin) == ("Singer", "mentioned")


def test_mentions_come_in_the_order_in_which_they_were_found() -> None:
    words = ("gamma", "beta", "alpha")
    of = naming("gamma beta alpha", *(bearer(word, 8 - n) for n, word in enumerate(words)))
    assert names(mentioned_families(of, RANKING, ())) == ["Alpha", "Beta"][:MOST_MENTIONED]
