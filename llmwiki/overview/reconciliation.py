"""Recognises, purely, yesterday's topics in those that today's corpus suggests.

A topic keeps its key, and with it the address of its page, as long as it can be recognised: by
the chunks that it shares with a suggestion. So neither an addition nor a move nor a rename
changes the address of a page, although the suggested keys follow the paths.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from llmwiki.domain import ChunkId, TopicId
from llmwiki.overview.outline import ProposedTopic


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopic:
    """A topic in the database; a retired one owns no chunks."""

    id: TopicId
    key: str
    retired: bool
    chunk_ids: frozenset[ChunkId]
    source_hash: str | None
    """Over the contents that its page was compiled from, None before the first compile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """Which known topic each suggestion continues, and the keys of those that are new."""

    continued: Mapping[int, KnownTopic]
    """By index of the suggestion."""
    new_keys: Mapping[int, str]
    gone: tuple[TopicId, ...]
    """Live topics that no suggestion continues: to be retired."""


def reconcile(
    proposed: Sequence[ProposedTopic], source_hashes: Sequence[str], known: Iterable[KnownTopic]
) -> Reconciliation:
    """Match suggestions, and the hashes of what they would be compiled from, with known topics.

    First where the page of a live topic says just that already: then nothing need be compiled,
    whatever became of files and keys. Next where the key is the same and chunks are shared,
    then by the number of shared chunks. What is left may bring a retired topic back: one whose
    page says just that, so that a revert costs nothing, else one of the same key.
    """
    by_id = {topic.id: topic for topic in known}
    live = {topic.id: topic for topic in by_id.values() if not topic.retired}
    matching = _Matching(free=set(by_id))
    matching.take(_saying_the_same(proposed, source_hashes, live))
    matching.take(_sharing(proposed, live))
    matching.take(_saying_the_same(proposed, source_hashes, by_id))
    matching.take(_namesakes(proposed, by_id))
    continued = {index: by_id[topic_id] for index, topic_id in matching.continued.items()}
    new_keys = _new_keys(proposed, continued, {topic.key for topic in by_id.values()})
    gone = tuple(sorted(topic_id for topic_id in matching.free if topic_id in live))
    return Reconciliation(continued=continued, new_keys=new_keys, gone=gone)


Pair = tuple[int, TopicId]
"""The index of a suggestion and a known topic that it may continue."""


@dataclass(slots=True)
class _Matching:
    """Pairs taken so far; each suggestion and each topic takes part in one at most."""

    free: set[TopicId]
    continued: dict[int, TopicId] = field(default_factory=dict)

    def take(self, pairs: Iterable[Pair]) -> None:
        """Take what is still free of the pairs, the best of which come first."""
        for index, topic_id in pairs:
            if index not in self.continued and topic_id in self.free:
                self.continued[index] = topic_id
                self.free.remove(topic_id)


def _sharing(proposed: Sequence[ProposedTopic], known: Mapping[TopicId, KnownTopic]) -> list[Pair]:
    """Return the pairs that share chunks, the best first."""
    owner = {chunk: topic.id for topic in known.values() for chunk in topic.chunk_ids}
    ranked = []
    for index, proposal in enumerate(proposed):
        shared = Counter(owner[chunk] for chunk in proposal.chunk_ids if chunk in owner)
        for topic_id, count in shared.items():
            same_key = known[topic_id].key == proposal.key
            ranked.append((not same_key, -count, index, topic_id))
    return [(index, topic_id) for _, _, index, topic_id in sorted(ranked)]


def _saying_the_same(
    proposed: Sequence[ProposedTopic],
    source_hashes: Sequence[str],
    known: Mapping[TopicId, KnownTopic],
) -> list[Pair]:
    """Return the pairs where the page says what the suggestion says.

    Those that share chunks as well come first, so that topics of the same text are not mixed
    up, then namesakes.
    """
    by_content: dict[str | None, list[KnownTopic]] = defaultdict(list)
    for topic in known.values():
        by_content[topic.source_hash].append(topic)
    ranked = [
        (topic.chunk_ids.isdisjoint(proposal.chunk_ids), topic.key != proposal.key, index, topic.id)
        for index, proposal in enumerate(proposed)
        for topic in by_content.get(source_hashes[index], ())
    ]
    return [(index, topic_id) for *_, index, topic_id in sorted(ranked)]


def _namesakes(
    proposed: Sequence[ProposedTopic], known: Mapping[TopicId, KnownTopic]
) -> list[Pair]:
    by_key = {topic.key: topic.id for topic in known.values()}
    return [
        (index, by_key[proposal.key])
        for index, proposal in enumerate(proposed)
        if proposal.key in by_key
    ]


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
