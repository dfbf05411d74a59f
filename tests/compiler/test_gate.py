import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmwiki.domain import PageDraft, PageSection, Statement, StatementKind, TopicSources
from llmwiki.grounding.gate import DroppedStatement, GateLimits, GateVerdict, check_draft
from tests.compiler.bad_answer import CHINESE, RELAY
from tests.compiler.samples import chunk, draft, statement, topic_sources

LIMITS = GateLimits()
TLDR = statement("The relay forwards messages to the valve.", 11)
FIRST = statement("The relay listens on port 7070 and forwards each message.", 11)
FULL = (
    FIRST,
    statement("It keeps its state in memory and forgets it on restart.", 11),
    statement("Messages larger than 256 KB are refused.", 14),
)


def check(
    page: PageDraft,
    sources: TopicSources = RELAY,
    *,
    previous_length: int = 0,
    limits: GateLimits = LIMITS,
) -> GateVerdict:
    return check_draft(page, sources, previous_length=previous_length, limits=limits)


def reasons(verdict: GateVerdict) -> list[str]:
    return [dropped.reason for dropped in verdict.dropped]


def refusal(verdict: GateVerdict) -> str:
    assert verdict.draft is None
    assert verdict.refusal is not None
    return verdict.refusal.split(":")[0]


def reason_of(said: Statement, sources: TopicSources = RELAY) -> str | None:
    """Check a statement on a page of good ones."""
    first = sources.chunks[0]
    good = [Statement(text=chunk.text, chunk_ids=(chunk.id,)) for chunk in sources.chunks]
    page = draft(*good, said, tldr=Statement(text=first.text, chunk_ids=(first.id,)))
    loose = replace(LIMITS, max_dropped_share=0.99)
    return next(iter(reasons(check(page, sources, limits=loose))), None)


def test_a_verbatim_draft_passes_untouched() -> None:
    texts: tuple[tuple[str, int, StatementKind], ...] = (
        ("The relay listens on port 7070 and forwards each message to the valve.", 11, "prose"),
        ("It keeps its state in memory and forgets it on restart.", 11, "prose"),
        ("```console\nrelay serve --port 7070\nrelay status\n```", 12, "code"),
        (RELAY.chunks[2].text, 13, "table"),
        ("See https://relay.example/limits for the reasons.", 14, "prose"),
    )
    page = draft(
        *(statement(text, number, kind=kind) for text, number, kind in texts),
        tldr=statement(texts[0][0], 11),
        heading="Limits",
    )

    assert check(page) == GateVerdict(draft=page)


@pytest.mark.parametrize(
    "text",
    [
        "Sure, here is the page about <b>relays</b>.",
        "As requested, the chunks say c9 — 🍔",
        "🍔",
        "word " * 900,
        "Der Zustand wird im Speicher gehalten und ist nach dem Neustart nicht mehr da.",
    ],
)
def test_nothing_that_a_chunk_says_is_held_against_the_page(text: str) -> None:
    sources = topic_sources(1, "Relay", chunk(1, text.strip()))
    said = statement(text.strip(), 1)

    verdict = check(draft(said, tldr=said), sources)

    assert verdict.draft is not None
    assert not verdict.dropped


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Incoming messages on port 7070 are passed to the valve by the relay.", 11),
        ("After a restart the relay no longer knows its state, because memory holds it.", 11),
        ("By default the port is 7070.", 13),
        ("To start it, run `relay serve` with `--port 7070`.", 12),
        ("A message over 256 KB is refused; see https://relay.example/limits for reasons.", 14),
        ("There are 4 workers by default, set with `--workers`.", 13),
    ],
)
def test_honest_paraphrase_passes(text: str, number: int) -> None:
    assert reason_of(statement(text, number)) is None


GERMAN = topic_sources(
    1,
    "Relais",
    chunk(1, "Das Relais wartet auf dem Port 7070 und leitet jede Nachricht an das Ventil weiter."),
    chunk(2, "Der Zustand wird im Speicher gehalten und ist nach einem Neustart verloren."),
)
BILINGUAL = topic_sources(
    1,
    "Relay",
    chunk(1, "中继把每条消息转发给阀门。The relay forwards each message to the valve."),
)


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        (statement("Jede Nachricht des Relais geht an das Ventil weiter.", 1), GERMAN),
        (statement("Nach einem Neustart ist der Zustand verloren.", 2), GERMAN),
        (statement("重启以后中继会丢失内存中的状态。", 31), CHINESE),
        (statement("HTTP 中继在端口 7070 上监听。", 31), CHINESE),
        (statement("Each message is forwarded to the valve by the relay.", 1), BILINGUAL),
        (statement("中继转发每条消息。", 1), BILINGUAL),
    ],
)
def test_pages_in_the_language_of_their_sources_pass(
    said: Statement, sources: TopicSources
) -> None:
    assert reason_of(said, sources) is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (statement("The relay listens.", 99), "unknown-citation"),
        (statement("The relay listens.", 11, 99), "unknown-citation"),
        (statement("on port 707", 11), "unsupported-detail"),
        (statement("port 070", 11), "unsupported-detail"),
        (
            statement("| Option | Default |\n|---|---|\n| `--port` | 7070 |", 13, kind="table"),
            "table-rows-missing",
        ),
        (statement("~~~\nrelay status && relay reset\n~~~", 12, kind="code"), "code-not-verbatim"),
    ],
)
def test_a_statement_without_support_is_dropped(said: Statement, reason: str) -> None:
    assert reason_of(said) == reason


@pytest.mark.parametrize(
    "said",
    [
        statement("```sh\n  relay   status\n```", 12, kind="code"),
        statement("```\nrelay serve --port 7070\n```", 12, kind="code"),
        statement(
            "| Option | Default |\n| :-- | --: |\n|`--port`|7070|\n|`--workers`|4|",
            13,
            kind="table",
        ),
    ],
)
def test_code_and_tables_may_differ_in_white_space_and_rules(said: Statement) -> None:
    assert reason_of(said) is None


def test_one_of_two_tables_with_the_same_header_is_whole() -> None:
    first, second = ("| Name | Default |\n|---|---|\n| a | 1 |\n| b | 2 |", "| c | 3 |\n| d | 4 |")
    header = first[: first.index("| a")]
    sources = topic_sources(1, "Names", chunk(1, f"{first}\n\nMore:\n\n{header}{second}"))

    assert reason_of(statement(first, 1, kind="table"), sources) is None
    assert reason_of(statement(header + second, 1, kind="table"), sources) is None
    part = statement(f"{header}| c | 3 |", 1, kind="table")
    assert reason_of(part, sources) == "table-rows-missing"


def test_a_command_may_lose_the_prompt_of_its_shell() -> None:
    sources = topic_sources(1, "Relay", chunk(1, "```\n$ relay status\n>>> relay.state()\n```"))

    for line in ("relay status", "relay.state()"):
        said = statement(f"```\n{line}\n```", 1, kind="code")
        assert reason_of(said, sources) is None


def test_markup_in_code_spans_is_text() -> None:
    assert reason_of(statement("The relay listens to `<message>`, on port 7070.", 11)) is None


def test_what_is_dropped_is_reported_with_what_offends() -> None:
    said = statement("It forwards each message within 30 ms to `valve_two`.", 11)

    verdict = check(draft(*FULL, said, tldr=TLDR))

    assert verdict.dropped == (
        DroppedStatement(text=said.text, reason="unsupported-detail", detail="valve_two, 30"),
    )


def test_the_same_words_with_another_source_are_no_repetition() -> None:
    sources = topic_sources(
        1, "Relay", chunk(1, "Restart it now."), chunk(2, "Restart it now. Restart it now.")
    )
    once = statement("Restart it now.", 1)
    twice = statement("Restart it now.", 2)

    verdict = check(draft(once, once, twice, twice, tldr=once), sources)

    assert reasons(verdict) == ["repeated"]
    assert verdict.dropped[0].text == once.text


def test_a_page_that_loses_too_many_statements_is_refused() -> None:
    bad = [statement(f"It needs {number} GB.", 11) for number in (16, 32)]

    assert reasons(check(draft(*FULL, bad[0], tldr=TLDR))) == ["unsupported-detail"]
    verdict = check(draft(*FULL, *bad, tldr=TLDR))
    assert refusal(verdict) == "too-many-dropped"
    assert len(verdict.dropped) == 2


@pytest.mark.parametrize(
    ("previous_length", "refused"), [(0, None), (300, None), (800, "shrunk"), (90_000, "shrunk")]
)
def test_a_page_may_not_shrink_while_its_sources_do_not(
    previous_length: int, refused: str | None
) -> None:
    sources = replace(RELAY, chunks=(*RELAY.chunks, chunk(15, "Nothing of note. " * 50)))

    verdict = check(draft(*FULL, tldr=TLDR), sources, previous_length=previous_length)

    assert (verdict.refusal or "").split(":")[0] == (refused or "")


def test_a_page_whose_sources_shrank_is_measured_against_them() -> None:
    assert check(draft(*FULL, tldr=TLDR), previous_length=90_000).draft is not None


def test_a_page_that_says_next_to_nothing_of_its_sources_is_refused() -> None:
    sources = replace(RELAY, chunks=(*RELAY.chunks, chunk(15, "Nothing of note. " * 1000)))

    assert refusal(check(draft(FIRST, tldr=TLDR), sources)) == "thin"


def test_the_figures_of_the_gate_decide() -> None:
    page = draft(*FULL, tldr=TLDR)

    assert refusal(check(page, limits=replace(LIMITS, max_page_characters=100))) == "page-too-long"
    narrow = replace(LIMITS, max_share_of_sources=0.1, padding_allowance=0)
    assert refusal(check(page, limits=narrow)) == "padded"
    short = replace(LIMITS, max_statement_characters=10, max_dropped_share=1.0)
    verbatim = statement("It keeps its state in memory and forgets it on restart.", 11)
    assert reasons(check(draft(FIRST, verbatim, tldr=TLDR), limits=short)) == ["too-long"]


def test_a_summary_that_fails_is_replaced_by_the_first_sentence_that_can_stand_for_it() -> None:
    code = statement("```\nrelay status\n```", 12, kind="code")
    page = draft(code, *FULL, tldr=statement("It is the best relay of 2026.", 11))

    verdict = check(page)

    assert verdict.draft is not None
    assert verdict.draft.tldr == FIRST
    assert verdict.repairs == ("tldr-replaced",)


def test_a_section_that_loses_its_heading_goes_on_with_the_one_before() -> None:
    sections = (
        PageSection(heading="As you asked", statements=FULL[:1]),
        PageSection(heading="# Limits", statements=FULL[1:2]),
        PageSection(heading="<script>", statements=FULL[2:]),
        PageSection(heading="", statements=(statement("Start the relay with `relay serve`.", 12),)),
    )
    page = replace(draft(tldr=TLDR), sections=sections)

    verdict = check(page)

    assert verdict.draft is not None
    assert [(each.heading, len(each.statements)) for each in verdict.draft.sections] == [
        ("", 1),
        ("Limits", 2),
        ("", 1),
    ]
    assert verdict.repairs == ("heading-repaired",)


def test_a_section_without_a_statement_left_is_left_out() -> None:
    bad = PageSection(heading="Memory", statements=(statement("It needs 16 GB.", 11),))
    page = draft(*FULL, tldr=TLDR)

    verdict = check(replace(page, sections=(bad, *page.sections)))

    assert verdict.draft == page


def test_tags_are_folded_and_cut_to_their_number() -> None:
    tags = ("C++", "c++", "#Relay ", "x" * 41, "a\nb", "é", *map(str, range(9)))
    page = draft(*FULL, tldr=TLDR, tags=tags)

    verdict = check(page)

    assert verdict.draft is not None
    assert verdict.draft.tags == ("c++", "relay", "a b", "é", "0", "1", "2", "3")


def test_a_title_of_the_model_stays_where_it_is_sensible() -> None:
    page = draft(*FULL, tldr=TLDR, title="How the relay forwards messages")

    assert check(page).draft == page


TEXTS = st.text(max_size=60) | st.sampled_from(
    ["The relay listens.", "```\nrelay status\n```", "| a |\n|---|", "<b>", "c1", "#", "7070"]
)
STATEMENTS = st.builds(
    Statement,
    text=TEXTS,
    chunk_ids=st.lists(st.sampled_from([11, 12, 13, 14, 99]), max_size=3).map(tuple),
    kind=st.sampled_from(["prose", "code", "table"]),
)
DRAFTS = st.builds(
    PageDraft,
    title=TEXTS,
    tldr=STATEMENTS,
    tags=st.lists(TEXTS, max_size=4).map(tuple),
    sections=st.lists(
        st.builds(
            PageSection, heading=TEXTS, statements=st.lists(STATEMENTS, max_size=5).map(tuple)
        ),
        max_size=4,
    ).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(DRAFTS, st.integers(0, 2000))
def test_any_draft_gets_a_verdict_that_a_second_look_confirms(
    page: PageDraft, previous_length: int
) -> None:
    lenient = replace(LIMITS, max_dropped_share=1.0)
    verdict = check(page, previous_length=previous_length, limits=lenient)

    assert (verdict.draft is None) == (verdict.refusal is not None)
    if verdict.draft is not None:
        kept = [each for section in verdict.draft.sections for each in section.statements]
        given_statements = [each for section in page.sections for each in section.statements]
        assert len(kept) + len(verdict.dropped) == len(given_statements)
        assert all(each in given_statements for each in kept)
        again = check(verdict.draft, previous_length=previous_length, limits=lenient)
        assert again == GateVerdict(draft=verdict.draft)


@pytest.mark.parametrize(
    "text",
    [
        "<" * 50_000,
        "<a " * 15_000,
        "|" * 40_000,
        "`" * 40_001,
        "relay " * 8_000,
        "\n" * 30_000 + "relay",
        "中" * 40_000,
        "c1 " * 15_000,
    ],
)
def test_a_hostile_draft_is_judged_in_no_time(text: str) -> None:
    lenient = replace(LIMITS, max_page_characters=10**6, max_statement_characters=10**6)
    kinds: tuple[StatementKind, ...] = ("prose", "code", "table")
    page = draft(*(statement(text, 11, kind=kind) for kind in kinds), tldr=TLDR, title=text)
    started = time.perf_counter()

    check(page, limits=lenient)

    assert time.perf_counter() - started < 5
