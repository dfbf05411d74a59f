import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmwiki.text.sentences import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Install it.", "Then run it!", "Does it work?", "Yes."],
        ["Use a tool, e.g. Docker, i.e. Docker Engine, vs. Podman.", "Next."],
        ["See No. 5, Fig. 3 and Sec. 2.", "It says no.", "Go."],
        ["Use Docker, Podman, etc.", "Both work."],
        ["Version v1.2.3 and 3.14 read config.yaml.", "See pkg.module.name."],
        ["It costs 5.", "The price is 3.5."],
        ["Wait…", "Done...", "Now."],
        ["Call `a. B` and ``c. `D` e. F``.", "Then stop."],
        ["Open https://example.com/a.B?c=1.", "End."],
        ["Read the page (https://example.com/x).", "Then go."],
        ["Keep it (see below. It matters) whole.", "Go."],
        ["He said “Stop.”", "She went."],
        ["安装它。", "「好的。」", "可以吗\uff1f", "请访问https://example.com。", "完成\uff01"],
        ["هل تعمل؟", "نعم\u06d4", "حسنا."],
        ["यह काम करता है।", "ठीक है।"],
        ["Written by J. Smith et al. for the U.S. Army.", "Good."],
        ["Costs $& and [[links]] or {{this}} | that.", "Fine."],
    ],
)
def test_prose_falls_into_its_sentences(sentences: list[str]) -> None:
    spaced = [
        sentence if sentence[-1] in "\u3002\uff01\uff1f\u300d" or not following else f"{sentence} "
        for sentence, following in pairwise([*sentences, ""])
    ]
    assert split_sentences("".join(spaced)) == tuple(sentences)


def test_a_list_marker_is_no_sentence() -> None:
    assert split_sentences("1. Install it. 2. Run it.") == ("1. Install it.", "2. Run it.")
    assert split_sentences("1.2. Check it. 1.3. Set it.") == ("1.2. Check it.", "1.3. Set it.")
    assert split_sentences("Do:\n- this\n- that\n10. Rest.") == (
        "Do:",
        "- this",
        "- that",
        "10. Rest.",
    )


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert split_sentences("One\nline.\n \nTwo") == ("One\nline.", "Two")


def test_an_unpaired_backtick_hides_no_sentence() -> None:
    assert split_sentences("A ` here. And there.\n\nNext ` one. Two.") == (
        "A ` here.",
        "And there.",
        "Next ` one.",
        "Two.",
    )


def test_text_without_sentences_is_kept_or_empty() -> None:
    assert split_sentences("") == ()
    assert split_sentences(" \n ") == ()
    assert split_sentences("no end") == ("no end",)


@given(st.text(alphabet=st.sampled_from("aB1.!?…`()[]\"' \n-*:/。؟।é"), max_size=200) | st.text())
def test_sentences_are_verbatim_and_lose_only_white_space(text: str) -> None:
    sentences = split_sentences(text)
    position = 0
    for sentence in sentences:
        position = text.index(sentence, position) + len(sentence)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@pytest.mark.parametrize(
    "unit",
    ["a. B", "`", "(", "x ` ", "\n", ".", '. "', "\n \n", "A. ( ", "(https://", "。", "\n -"],
)
def test_a_megabyte_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    split_sentences(text)
    assert time.process_time() - started < 8
