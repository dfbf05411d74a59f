"""Packs topics into requests. The scarce unit is the request, so one carries several topics.

Pure and deterministic: the same queue gives the same packs, which is how a dry run can foretell
the night.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from llmwiki.compiler.prompt import build_messages, page_words
from llmwiki.domain import SourceChunk, TopicSources
from llmwiki.text.tokens import count_tokens

_BYTES_PER_TOKEN = 4
"""English prose has a little more in every current vocabulary."""
_TOKENS_PER_WORD = 2.2
"""A word of a page, with its share of citations and JSON around it."""
_TOKENS_PER_PAGE = 150
"""Title, tags, summary and braces."""

_TOKENS_PER_CHUNK = 40
"""The lines around a chunk, rather too many: one round more is better than a chunk less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackLimits:
    """What one request may hold; the first limit that is reached ends the pack."""

    max_pages: int = 6
    """Topics in one request; 1 sends each by itself."""
    max_input_tokens: int = 24_000
    """Estimated tokens of the whole request. Leave a quarter of the model's window free, since
    dense code has more tokens than the estimate."""
    max_output_tokens: int = 8_000
    """Tokens of the answer: where the service is told to stop, and what is packed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSources:
    """A topic that fits a request, and how many of its chunks had to stay out."""

    sources: TopicSources
    left_out: int


def plan_packs(
    topics: Sequence[TopicSources], limits: PackLimits
) -> tuple[tuple[TopicSources, ...], ...]:
    """Divide the topics into packs, in their order, each as full as the limits allow.

    A topic that exceeds the limits by itself is a pack by itself; ``fit_pack`` cuts it.
    """
    fixed = request_tokens(())
    packs: list[tuple[TopicSources, ...]] = []
    current: list[TopicSources] = []
    tokens_in = tokens_out = 0
    for topic in topics:
        more_in, more_out = request_tokens((topic,)) - fixed, answer_tokens(topic)
        full = (
            len(current) >= limits.max_pages
            or fixed + tokens_in + more_in > limits.max_input_tokens
            or tokens_out + more_out > limits.max_output_tokens
        )
        if current and full:
            packs.append(tuple(current))
            current, tokens_in, tokens_out = [], 0, 0
        current.append(topic)
        tokens_in, tokens_out = tokens_in + more_in, tokens_out + more_out
    return (*packs, tuple(current)) if current else tuple(packs)


def fit_pack(pack: Sequence[TopicSources], max_tokens: int) -> tuple[FittedSources, ...]:
    """Cut the topics of a pack until its request fits, each to an equal share at most."""
    if not pack or request_tokens(pack) <= max_tokens:
        return tuple(FittedSources(sources=sources, left_out=0) for sources in pack)
    share = (max_tokens - request_tokens(())) // len(pack)
    return tuple(fit_sources(sources, request_tokens(()) + share) for sources in pack)


def fit_sources(sources: TopicSources, max_tokens: int) -> FittedSources:
    """Leave out chunks until a request for this topic alone fits.

    The section with the most text loses its last chunk, again and again, so that every
    section keeps its beginning. What stays is in reading order. A last chunk that is still
    too large is cut itself. Only a limit below what the rules of the request take is exceeded.
    """
    kept = dict(enumerate(sources.chunks))
    sections = _sections(sources.chunks)
    fitted = sources
    # The costs of chunks add up to more than their request, so one round may not be enough.
    while (excess := request_tokens((fitted,)) - max_tokens) > 0 and len(kept) > 1:
        _leave_out(kept, sections, excess)
        fitted = replace(sources, chunks=tuple(kept.values()))
    if excess > 0 and kept:
        fitted = _cut_text(fitted, max_tokens)
    return FittedSources(sources=fitted, left_out=len(sources.chunks) - len(kept))


def _leave_out(
    kept: dict[int, SourceChunk], sections: list[list[tuple[int, int]]], excess: int
) -> None:
    while excess > 0 and len(kept) > 1:
        longest = max(sections, key=lambda section: sum(cost for _, cost in section))
        position, cost = longest.pop()
        del kept[position]
        excess -= cost


def request_tokens(pack: Sequence[TopicSources]) -> int:
    """Return the estimated tokens of the request for this pack."""
    return sum(_tokens(message["content"]) for message in build_messages(pack))


def answer_tokens(sources: TopicSources) -> int:
    """Return the estimated tokens of the page that will come back."""
    return round(page_words(sources) * _TOKENS_PER_WORD) + _TOKENS_PER_PAGE


def _tokens(text: str) -> int:
    """Estimate carefully: words for scripts without spaces, bytes for code and long words."""
    return max(count_tokens(text), len(text.encode(errors="replace")) // _BYTES_PER_TOKEN + 1)


def _sections(chunks: Sequence[SourceChunk]) -> list[list[tuple[int, int]]]:
    """Return position and cost of the chunks of each section."""
    sections: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for position, chunk in enumerate(chunks):
        place = (chunk.document_path, *chunk.breadcrumb)
        sections[place].append((position, _tokens(chunk.text) + _TOKENS_PER_CHUNK))
    return list(sections.values())


def _cut_text(sources: TopicSources, max_tokens: int) -> TopicSources:
    """Shorten the only chunk until the request fits, by halving the interval."""
    (chunk,) = sources.chunks
    low, high = 0, len(chunk.text)
    while low < high:
        middle = (low + high + 1) // 2
        if request_tokens((_with_text(sources, chunk, middle),)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return _with_text(sources, chunk, low)


def _with_text(sources: TopicSources, chunk: SourceChunk, length: int) -> TopicSources:
    return replace(sources, chunks=(replace(chunk, text=chunk.text[:length]),))
