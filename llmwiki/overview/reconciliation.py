"""Recognises, purely, yesterday's topics in those that today's corpus suggests.

A topic keeps its key, and with it the address of its page, as long as it can be recognised: by
the passages that it shares with a suggestion. So neither an addition nor a move nor a rename
changes the address of a page, although the suggested keys follow the paths.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from llmwiki.domain import ChunkId, TopicId
from llmwiki.overview.outline import ProposedTopic


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopic:
    """A topic in the database; a retired one owns no passages."""

    id: TopicId
    key: str
    retired: bool
    chunk_ids: frozenset[ChunkId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """Which known topic each suggestion continues, and the keys of those that are new."""

    continued: Mapping[int, KnownTopic]
    """By index of the suggestion."""
    new_keys: Mapping[int, str]
    gone: tuple[TopicId, ...]
    """Live topics that no suggestion continues: to be retired."""


def reconcile(proposed: Sequence[ProposedTopic], known: Iterable[KnownTopic]) -> Reconciliation:
    """Match suggestions with known topics.

    First where the key is the same and passages are shared, then by the number of shared
    passages, last by the key alone, which also brings a retired topic back.
    """
    by_id = {topic.id: topic for topic in known}
    continued: dict[int, KnownTopic] = {}
    free = set(by_id)
    for index, topic_id in _candidates(proposed, by_id):
        if index not in continued and topic_id in free:
            continued[index] = by_id[topic_id]
            free.remove(topic_id)
    by_key = {topic.key: topic.id for topic in by_id.values()}
    for index, proposal in enumerate(proposed):
        namesake = by_key.get(proposal.key)
        if index not in continued and namesake in free:
            continued[index] = by_id[namesake]
            free.remove(namesake)
    new_keys = _new_keys(proposed, continued, {topic.key for topic in by_id.values()})
    gone = tuple(sorted(topic_id for topic_id in free if not by_id[topic_id].retired))
    return Reconciliation(continued=continued, new_keys=new_keys, gone=gone)


def _candidates(
    proposed: Sequence[ProposedTopic], known: Mapping[TopicId, KnownTopic]
) -> list[tuple[int, TopicId]]:
    """Return (suggestion, topic) pairs that share passages, the best first."""
    owner = {chunk: topic.id for topic in known.values() for chunk in topic.chunk_ids}
    ranked = []
    for index, proposal in enumerate(proposed):
        shared = Counter(owner[chunk] for chunk in proposal.chunk_ids if chunk in owner)
        for topic_id, count in shared.items():
            same_key = known[topic_id].key == proposal.key
            ranked.append((not same_key, -count, index, topic_id))
    return [(index, topic_id) for _, _, index, topic_id in sorted(ranked)]


def _new_keys(
    proposed: Sequence[ProposedTopic], continued: Mapping[int, KnownTopic], taken: AbstractSet[str]
) -> dict[int, str]:
    used = set(taken)
    keys = {}
    for index, proposal in enumerate(proposed):
        if index in continued:
            continue
        key, number = proposal.key, 1
        while key in used:
            number += 1
            key = f"{proposal.key}-{number}"
        used.add(key)
        keys[index] = key
    return keys
