import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.compiler.drafts.extractive import ExtractiveGenerator
from llmwiki.compiler.drafts.sentence_selection import MOST_PAGE_TOKENS
from llmwiki.domain import (
    ChunkId,
    CollectionId,
    PageDraft,
    SourceChunk,
    Statement,
    Topic,
    TopicId,
    TopicSources,
)
from llmwiki.ingest.chunking import chunk_document
from llmwiki.ingest.preparation import breadcrumb_of
from llmwiki.parsing.parsers import parse
from llmwiki.text.hashing import normalise
from llmwiki.text.tokens import count_tokens
from tests.replay.histories import clone

HeadedText = tuple[str, str]
"""Heading, empty for the document's own text, and text."""


def sources(*texts: HeadedText, title: str = "Widgets", path: str = "widgets.md") -> TopicSources:
    chunks = (
        SourceChunk(
            id=ChunkId(number),
            document_path=path,
            breadcrumb=(title, heading) if heading else (title,),
            text=text,
            content_hash="",
            token_count=count_tokens(text),
        )
        for number, (heading, text) in enumerate(texts, start=1)
    )
    return of_chunks(*chunks, title=title)


def of_chunks(*chunks: SourceChunk, title: str = "Widgets") -> TopicSources:
    topic = Topic(id=TopicId(1), collection_id=CollectionId(1), key="widgets", title=title)
    return TopicSources(topic=topic, chunks=chunks)


def page_of(topic: TopicSources) -> PageDraft:
    return ExtractiveGenerator().generate([topic]).drafts[topic.topic.id]


def body(page: PageDraft) -> list[Statement]:
    return [statement for section in page.sections for statement in section.statements]


def texts(page: PageDraft) -> list[str]:
    return [statement.text for statement in body(page)]


def assert_verbatim(topic: TopicSources, page: PageDraft) -> None:
    by_id = {chunk.id: normalise(chunk.text) for chunk in topic.chunks}
    for statement in [page.tldr, *body(page)]:
        assert statement.chunk_ids
        for chunk_id in statement.chunk_ids:
            assert normalise(statement.text) in by_id[chunk_id]


FILLER = " ".join(
    f"Gear {word} turns the wheel of the {word} engine with a steady and quite even force."
    for word in ("alpha", "bravo", "carol", "delta", "eagle", "frank", "grape", "hotel", "india")
)


def test_a_topic_without_text_is_a_problem_and_the_others_are_written() -> None:
    empty = TopicSources(
        topic=Topic(id=TopicId(2), collection_id=CollectionId(1), key="e", title="E"), chunks=()
    )
    generation = ExtractiveGenerator().generate([empty, sources(("", "A widget is a part."))])
    assert set(generation.drafts) == {TopicId(1)}
    assert "no text" in generation.problems[TopicId(2)]
    assert generation.usage.chat_calls == 0


def test_a_very_short_source_is_kept_whole() -> None:
    page = page_of(sources(("", "A widget is a part.\n\nIt turns.\n\n- one\n- two")))
    assert texts(page) == ["A widget is a part.", "It turns.", "- one", "- two"]
    assert page.tldr.text == "A widget is a part."


def test_sections_follow_the_breadcrumbs_and_the_first_needs_no_heading() -> None:
    page = page_of(sources(("", "A widget is a part."), ("Usage", "Turn it."), ("Usage", "Stop.")))
    assert [section.heading for section in page.sections] == ["", "Usage"]
    assert texts(page) == ["A widget is a part.", "Turn it.", "Stop."]


def test_a_topic_of_several_documents_names_each_of_them() -> None:
    first, second = (
        sources((heading, f"The {title} is {heading}."), title=title, path=f"{title}.md").chunks[0]
        for title, heading in (("Gear", ""), ("Wheel", "Size"))
    )
    page = page_of(of_chunks(first, second, title="Parts: Gear, Wheel"))
    assert [section.heading for section in page.sections] == ["Gear", "Wheel: Size"]


def test_a_heading_that_occurs_twice_is_told_apart_by_the_one_above() -> None:
    chunks = [
        SourceChunk(
            id=ChunkId(number),
            document_path="a.md",
            breadcrumb=("Tool", system, "Install"),
            text=f"Get it for {system}.",
            content_hash="",
            token_count=5,
        )
        for number, system in enumerate(("Linux", "Windows"))
    ]
    page = page_of(of_chunks(*chunks, title="Tool"))
    assert [section.heading for section in page.sections] == ["Linux: Install", "Windows: Install"]


def test_the_same_sentence_in_two_chunks_is_stated_once_and_cites_both() -> None:
    page = page_of(sources(("", "A widget is a part."), ("Usage", "Turn it. A widget is a\npart.")))
    assert texts(page) == ["A widget is a part.", "Turn it."]
    assert body(page)[0].chunk_ids == (1, 2)


def test_a_lead_in_without_what_it_introduces_is_left_out() -> None:
    page = page_of(sources(("", "A widget is a part. See the picture below:"), ("Use", "Turn it.")))
    assert texts(page) == ["A widget is a part.", "Turn it."]


def test_a_lead_in_whose_picture_is_gone_does_not_introduce_the_next_paragraph() -> None:
    page = page_of(sources(("", "A widget is a part.\n\nThis is how it looks:\n\nGears turn.")))
    assert texts(page) == ["A widget is a part.", "Gears turn."]


def test_a_caution_stays_above_its_paragraph() -> None:
    page = page_of(sources(("", f"{FILLER}\n\nWarning:\n\nNever set `speed` to 12.")))
    assert texts(page)[-2:] == ["Warning:", "Never set `speed` to 12."]


def test_code_comes_with_its_lead_in_and_its_fences() -> None:
    code = "```sh\nwidget --max-speed 12\n\nwidget --dry-run --log-level debug\n```"
    page = page_of(sources(("", f"{FILLER}\n\nRun this:\n\n{code}"), ("More", FILLER)))
    index = texts(page).index("Run this:")
    assert body(page)[index + 1] == Statement(text=code, chunk_ids=(ChunkId(1),), kind="code")


def test_a_table_of_options_is_preferred_to_chatty_sentences() -> None:
    table = "| Option | Default |\n| --- | --- |\n| `max_speed` | 12 |\n| `min_speed` | 3 |"
    chat = " ".join(f"Let's just have a really great {word}!" for word in FILLER.split()[:30])
    page = page_of(sources(("", f"A widget is a part.\n\n{chat}\n\n{table}")))
    assert Statement(text=table, chunk_ids=(ChunkId(1),), kind="table") in body(page)
    assert len(body(page)) < 20


def test_a_step_is_kept_only_with_the_steps_before_it() -> None:
    steps = [f"{number}. Set `option_{number}` of part {number}." for number in range(1, 40)]
    page = page_of(sources(("Steps", "Do this:\n\n" + "\n".join(steps))))
    kept = texts(page)
    assert kept == ["Do this:", *steps[: len(kept) - 1]]
    assert len(kept) > 3


def test_a_short_list_is_kept_whole_or_not_at_all() -> None:
    items = ["- `red_wheel`", "- `blue_wheel`", "- `green_wheel`"]
    text = f"{FILLER} These wheels exist:\n\n" + "\n".join(items)
    assert texts(page_of(sources(("", text))))[-4:] == ["These wheels exist:", *items]


def test_a_sentence_that_leans_on_another_is_kept_with_it() -> None:
    text = f"{FILLER} A flux is odd. It needs `flux_rate` and `flux_size` and `flux_mode`. {FILLER}"
    kept = texts(page_of(sources(("", text))))
    index = kept.index("It needs `flux_rate` and `flux_size` and `flux_mode`.")
    assert kept[index - 1] == "A flux is odd."


def test_sections_that_lead_elsewhere_are_left_to_the_end_of_the_budget() -> None:
    topic = sources(("", FILLER), ("Usage", FILLER.replace("Gear", "Cog")), ("See also", "- Cogs"))
    assert "See also" not in [section.heading for section in page_of(topic).sections]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "In this guide you will see widgets. What is a widget? A widget is a part of a gear.",
            "A widget is a part of a gear.",
        ),
        ("See also the gears. Widgets let you turn gears.", "Widgets let you turn gears."),
        ("Edit this page\n\nTurns every gear that there is.", "Turns every gear that there is."),
        ("Options:\n\n- `size` of the widget\n- `speed`", "`size` of the widget"),
        ("```sh\n# \nwidget --turn\n```", "widget --turn"),
        ("| Option |\n| --- |\n| `size` |", "| Option |"),
        ("小部件是一个零件。它会转动。", "小部件是一个零件。"),
    ],
)
def test_the_summary_is_the_sentence_that_says_what_the_topic_is(text: str, summary: str) -> None:
    page = page_of(sources(("", text)))
    assert page.tldr.text == summary
    assert page.tldr.chunk_ids == (1,)


def test_markup_characters_in_prose_stay_as_they_are() -> None:
    sentence = "Use $& and [[links]], {{ braces }} | pipes and `code. With` $1."
    assert page_of(sources(("", f"{sentence} Then go."))).sections[0].statements[0].text == sentence


def test_tags_are_lower_case_words_and_identifiers_of_the_topic() -> None:
    topic = sources(
        ("", "The Gear of the `wheel_size`. Gears turn."), ("Gear", "Set `wheel_size` of gears.")
    )
    page = page_of(topic)
    assert {"widgets", "gear", "wheel_size"} <= set(page.tags)
    assert 3 <= len(page.tags) <= 6


def test_the_page_does_not_depend_on_the_pack() -> None:
    one, two = sources(("", FILLER), ("Use", FILLER)), sources(("", FILLER[200:]))
    other = TopicSources(
        topic=Topic(id=TopicId(2), collection_id=CollectionId(1), key="o", title="O"),
        chunks=two.chunks,
    )
    generator = ExtractiveGenerator()
    alone = generator.generate([one]).drafts[one.topic.id]
    assert generator.generate([other, one]).drafts[one.topic.id] == alone


def test_a_large_topic_stays_within_the_budget_and_is_written_in_time() -> None:
    words = [f"part{number}" for number in range(2000)]
    chooser = random.Random(4)  # noqa: S311 - texts, not secrets
    topic = sources(
        *(
            (
                f"Section {number // 4}",
                " ".join(
                    f"The {chooser.choice(words)} of {chooser.choice(words)} is a {place}."
                    for place in chooser.sample(words, 15)
                ),
            )
            for number in range(2000)
        )
    )
    started = time.process_time()
    page = page_of(topic)
    assert time.process_time() - started < 30
    assert sum(count_tokens(text) for text in texts(page)) <= MOST_PAGE_TOKENS


BLOCKS = st.sampled_from(
    [
        "A gear is a part. It turns, e.g. at 3.5 rpm. Why?",
        "Run it:",
        "```py\nx = 1\n\ny = '$&'\n```",
        "```py\nx = 1",
        "- one:\n  - `two_three`\n- four\n  goes on",
        "1. First.\n2. Second:\n3. Third.",
        "3. Third.\n4. Fourth.",
        "| a | b |\n| --- | --- |\n| `x` | 1 |",
        "See also",
        "齿轮。转动。",
        "Linux",
        FILLER,
    ]
)
CHUNKS = st.tuples(
    st.sampled_from(["", "Use", "Next steps", "FAQ"]),
    st.lists(BLOCKS | st.text(max_size=60), max_size=5).map("\n\n".join),
)


@settings(deadline=None)
@given(st.lists(CHUNKS, max_size=8))
def test_every_statement_is_found_in_every_chunk_that_it_cites(chunks: list[HeadedText]) -> None:
    topic = sources(*chunks)
    for page in ExtractiveGenerator().generate([topic]).drafts.values():
        assert_verbatim(topic, page)
        assert page.sections
        assert all(section.statements for section in page.sections)
        assert not texts(page)[-1].endswith(":") or len(texts(page)) == 1


def test_a_lead_in_that_is_all_there_is_makes_a_page() -> None:
    assert texts(page_of(sources(("", "Run it:")))) == ["Run it:"]


def test_text_without_a_letter_or_digit_is_no_text() -> None:
    generation = ExtractiveGenerator().generate([sources(("", "—\n\n- …\n\n```\n***\n```"))])
    assert generation.drafts == {}
    assert list(generation.problems) == [TopicId(1)]


@pytest.mark.parametrize(
    "corpus",
    [
        pytest.param(name, marks=pytest.mark.corpora(name))
        for name in ("fastapi-docs", "opentelemetry-docs", "ragflow-docs")
    ],
)
def test_pages_of_real_documentation_are_verbatim_and_within_the_budget(
    corpus: str, corpus_bundle: Path, tmp_path: Path
) -> None:
    history = clone(corpus_bundle, tmp_path / corpus)
    history.check_out(1)
    for path in sorted(history.folder.rglob("*.md*")):
        topic = topic_of(path)
        if not topic.chunks:
            continue
        page = page_of(topic)
        assert_verbatim(topic, page)
        assert sum(count_tokens(text) for text in texts(page)) <= MOST_PAGE_TOKENS
        assert page.sections


def topic_of(path: Path) -> TopicSources:
    document = parse(path.name, path.read_bytes())
    found = [
        (breadcrumb_of(document.title, section.path), chunk)
        for section in chunk_document(document, target_tokens=200)
        for chunk in section.chunks
    ]
    chunks = [
        SourceChunk(
            id=ChunkId(number),
            document_path=path.name,
            breadcrumb=breadcrumb,
            text=chunk.text,
            content_hash=chunk.content_hash,
            token_count=chunk.token_count,
        )
        for number, (breadcrumb, chunk) in enumerate(found)
    ]
    return of_chunks(*chunks, title=document.title)
