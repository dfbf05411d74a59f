"""Short labels for the topics and chunks of one request, as t1 and c1.

A model copies a short label without error, and no database id leaves the house. The labels
follow from the order of the pack alone, so that whoever reads the answer derives them again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from llmwiki.domain import SourceChunk, TopicSources


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledChunk:
    """A chunk as the request shows it."""

    label: str
    topic: str
    """Label of the topic that it belongs to."""
    chunk: SourceChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPack:
    """The topics and the chunks of one request by their labels."""

    topics: Mapping[str, TopicSources]
    chunks: Mapping[str, LabelledChunk]

    def chunks_of(self, topic: str) -> tuple[LabelledChunk, ...]:
        """Return the chunks of one topic in reading order."""
        return tuple(chunk for chunk in self.chunks.values() if chunk.topic == topic)


def label_pack(pack: Sequence[TopicSources]) -> LabelledPack:
    """Label the topics, and the chunks of all of them with one running number."""
    topics = {f"t{number}": sources for number, sources in enumerate(pack, start=1)}
    return LabelledPack(topics=topics, chunks={chunk.label: chunk for chunk in _chunks(topics)})


def _chunks(topics: Mapping[str, TopicSources]) -> Iterator[LabelledChunk]:
    number = 0
    for topic, sources in topics.items():
        for chunk in sources.chunks:
            number += 1
            yield LabelledChunk(label=f"c{number}", topic=topic, chunk=chunk)
