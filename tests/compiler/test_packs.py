from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.compiler.packs import (
    PackLimits,
    answer_tokens,
    fit_pack,
    fit_sources,
    plan_packs,
    request_tokens,
)
from llmwiki.domain import TopicSources
from tests.compiler.samples import chunk, topic_sources

SENTENCE = "The relay keeps its state in memory and forgets it on restart. "


def topic(number: int, *, sentences: int = 10, chunks: int = 2) -> TopicSources:
    made = [
        chunk(number * 100 + index, SENTENCE * sentences, breadcrumb=("Relay", f"Part {index}"))
        for index in range(chunks)
    ]
    return topic_sources(number, f"Topic {number}", *made)


def numbers(packs: tuple[tuple[TopicSources, ...], ...]) -> list[list[int]]:
    return [[sources.topic.id for sources in pack] for pack in packs]


def test_topics_are_packed_in_their_order_up_to_the_count() -> None:
    packs = plan_packs([topic(number) for number in range(1, 8)], PackLimits(max_pages=3))

    assert numbers(packs) == [[1, 2, 3], [4, 5, 6], [7]]


def test_one_page_per_pack_switches_packing_off() -> None:
    packs = plan_packs([topic(number) for number in (3, 1, 2)], PackLimits(max_pages=1))

    assert numbers(packs) == [[3], [1], [2]]


def test_no_topics_make_no_packs() -> None:
    assert plan_packs([], PackLimits()) == ()


def test_a_pack_ends_before_its_request_exceeds_the_input_limit() -> None:
    topics = [topic(number, sentences=20) for number in range(1, 6)]
    two = request_tokens(topics[:2])

    packs = plan_packs(topics, PackLimits(max_input_tokens=two + 10))

    assert numbers(packs) == [[1, 2], [3, 4], [5]]
    assert all(request_tokens(pack) <= two + 10 for pack in packs)


def test_a_pack_ends_before_its_answer_exceeds_the_output_limit() -> None:
    topics = [topic(number, sentences=40) for number in range(1, 5)]
    limits = PackLimits(max_output_tokens=2 * answer_tokens(topics[0]))

    assert numbers(plan_packs(topics, limits)) == [[1, 2], [3, 4]]


def test_a_topic_over_the_limit_is_a_pack_by_itself() -> None:
    large = topic(2, sentences=200, chunks=5)
    limits = PackLimits(max_input_tokens=request_tokens([topic(1), topic(3)]) + 10)

    assert numbers(plan_packs([topic(1), large, topic(3)], limits)) == [[1], [2], [3]]


def test_six_topics_of_the_usual_size_share_one_request_by_default() -> None:
    topics = [topic(number, sentences=14, chunks=15) for number in range(1, 7)]

    assert len(plan_packs(topics, PackLimits())) == 1


def test_sources_that_fit_are_returned_as_they_are() -> None:
    sources = topic(1)

    fitted = fit_sources(sources, request_tokens([sources]))

    assert fitted.sources is sources
    assert fitted.left_out == 0


def test_the_section_with_the_most_text_loses_its_last_chunks() -> None:
    long = [chunk(number, SENTENCE * 20, breadcrumb=("Relay", "Long")) for number in range(1, 6)]
    short = [chunk(9, SENTENCE, breadcrumb=("Relay", "Short"))]
    sources = topic_sources(1, "Relay", *long, *short)
    limit = request_tokens([replace(sources, chunks=(*long[:3], *short))])

    fitted = fit_sources(sources, limit)

    assert [chunk.id for chunk in fitted.sources.chunks] == [1, 2, 3, 9]
    assert fitted.left_out == 2


def test_a_single_chunk_that_is_too_large_is_cut() -> None:
    sources = topic_sources(1, "Relay", chunk(1, SENTENCE * 1000))

    fitted = fit_sources(sources, 3000)

    (kept,) = fitted.sources.chunks
    assert sources.chunks[0].text.startswith(kept.text)
    assert 2950 <= request_tokens([fitted.sources]) <= 3000
    assert fitted.left_out == 0


def test_a_pack_that_was_put_together_elsewhere_is_cut_to_equal_shares() -> None:
    pack = [topic(1, sentences=100), topic(2, sentences=2), topic(3, sentences=100)]

    fitted = fit_pack(pack, 3000)

    assert request_tokens([each.sources for each in fitted]) <= 3000
    assert [each.left_out for each in fitted] == [1, 0, 1]


def test_a_topic_without_chunks_fits_any_limit() -> None:
    empty = topic_sources(1, "Relay")

    assert fit_sources(empty, 10).sources == empty
    assert fit_pack([], 10) == ()


TEXTS = st.text(alphabet=st.sampled_from("aZ é漢字{}\n`#_-0"), min_size=1, max_size=400)
TOPICS = st.lists(st.lists(TEXTS, min_size=1, max_size=6), max_size=6)


@settings(max_examples=40, deadline=None)
@given(TOPICS, st.integers(1, 4), st.integers(400, 1500))
def test_packs_keep_every_topic_in_order_and_fit_after_fitting(
    texts: list[list[str]], count: int, room: int
) -> None:
    tokens = request_tokens(()) + room
    topics = [
        topic_sources(number, "Relay", *(chunk(index, text) for index, text in enumerate(chunks)))
        for number, chunks in enumerate(texts)
    ]

    packs = plan_packs(topics, PackLimits(max_pages=count, max_input_tokens=tokens))

    assert [sources for pack in packs for sources in pack] == topics
    for pack in packs:
        assert 1 <= len(pack) <= count
        fitted = fit_pack(pack, tokens)
        assert request_tokens([each.sources for each in fitted]) <= tokens
