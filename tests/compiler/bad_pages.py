"""Answers without a page to read, with a page that is refused, or with a form to put right."""

import json

from tests.compiler.bad_answer import (
    EMPTY,
    GOOD,
    GOOD_PAGE,
    GOOD_STATEMENTS,
    VALVE_PAGE,
    answer,
    only,
    page,
    refused,
    repaired,
    said,
    sections,
)

NO_ANSWER = (
    refused("nothing but white space", " \n ", "no-pages"),
    refused("HTML with status 200", "<html><body>502 Bad Gateway</body></html>", "no-pages"),
    refused("an apology instead of an answer", "I'm sorry, I cannot help with that.", "no-pages"),
    refused("an error as JSON", '{"error": {"message": "overloaded"}}', "no-pages"),
    refused("the page as Markdown", "# Relay\n\nThe relay listens on port 7070.", "no-pages"),
    refused("an empty list of pages", '{"pages": []}', "not-answered"),
    refused("the schema instead of an answer", '{"pages": [{"type": "object"}]}', "not-answered"),
    refused("a page for a topic that was not asked for", page(topic="t9"), "not-answered"),
    refused("a page without a topic", page(topic=None), "not-answered"),
    refused("a list where a page belongs", answer([GOOD_PAGE]), "not-answered"),
    refused("cut off inside of the page", GOOD[: len(GOOD) // 3], "truncated"),
    refused("cut off before the page", '{"pages": [', "truncated"),
    refused("nesting without end", '{"pages": [' + '{"topic": ' * 5000, "truncated"),
    refused("a page that is no JSON", GOOD.replace('"Relay"', '"Re"lay"', 1), "unreadable"),
    refused(
        "a key given twice",
        GOOD.replace('"title":', '"title": "Valve", "title":', 1),
        "not-answered",
    ),
)

WRONG_PAGE = (
    refused(
        "a page of its own and another topic's under one label",
        answer(GOOD_PAGE, VALVE_PAGE | {"topic": "t1"}, {**GOOD_PAGE, "title": "Other"}),
        "swapped",
    ),
    refused(
        "two versions of one page",
        answer(GOOD_PAGE, {**GOOD_PAGE, "title": "Other"}),
        "answered-twice",
    ),
    refused("pages swapped", answer({**VALVE_PAGE, "topic": "t1"}), "swapped"),
    refused("no sections", page(sections=None), "malformed"),
    refused("sections as one text", page(sections="The relay listens."), "malformed"),
    refused("a section that is a text", page(sections=["The relay listens."]), "malformed"),
    refused("statements that are no list", page(sections=[{"statements": {}}]), "malformed"),
    refused("no statements", only(), "nothing-left"),
    refused("all texts empty", only(said("", "c1"), said(" ", "c2")), "nothing-left"),
    refused("no statement cites anything", only(said("The relay listens.")), "nothing-left"),
    refused(
        "most statements invented",
        only(
            GOOD_STATEMENTS[0],
            said("It needs 16 GB of memory.", "c1"),
            said("It was first released in 2011.", "c1"),
        ),
        "too-many-dropped",
    ),
    refused("a huge page", only(*(said("The relay listens. " * 90, "c1"),) * 30), "page-too-long"),
    refused("one huge string", only(said("relay " * 100_000, "c1")), "page-too-long"),
    refused(
        "padding",
        only(
            *(
                said(f"The relay forwards each message to the valve{'!' * number}", "c1")
                for number in range(1, 40)
            )
        ),
        "padded",
    ),
    refused("shrunk to a sentence", only(GOOD_STATEMENTS[0]), "shrunk", previous_length=2_000),
    refused("a page of a topic without chunks", page(), "no-sources", pack=(EMPTY,)),
    refused(
        "no summary and no sentence that could be one",
        page(tldr=None, sections=sections(*GOOD_STATEMENTS[3:5])),
        "no-tldr",
    ),
)

SMALL_PARTS = (
    repaired("no title", page(title=""), "title-replaced"),
    repaired("null for a title", page(title=None), "title-replaced"),
    repaired("a preamble for a title", page(title="Here is the page:"), "title-replaced"),
    repaired("HTML in the title", page(title="<h1>Relay</h1>"), "title-replaced"),
    repaired("a version invented in the title", page(title="Relay 3.2"), "title-replaced"),
    repaired("no summary", page(tldr=None), "tldr-replaced"),
    repaired(
        "a summary without a source",
        page(tldr={"text": "The relay forwards messages.", "sources": []}),
        "tldr-replaced",
    ),
    repaired(
        "a summary with a number invented",
        page(tldr={"text": "The relay forwards 500 messages.", "sources": ["c1"]}),
        "tldr-replaced",
    ),
    repaired(
        "a summary as long as a page",
        page(tldr={"text": "The relay forwards. " * 40, "sources": ["c1"]}),
        "tldr-replaced",
    ),
    repaired(
        "tags that are none",
        page(tags=["#Relay", "RELAY", "", "<b>", None, "messages"]),
        "tags-normalised",
    ),
    repaired(
        "a heading with markup",
        page(sections=sections(*GOOD_STATEMENTS, heading="## Relay")),
        "heading-repaired",
    ),
    repaired(
        "a heading that talks",
        page(
            sections=[
                *sections(*GOOD_STATEMENTS[:3]),
                *sections(*GOOD_STATEMENTS[3:], heading="As requested, the rest"),
            ]
        ),
        "heading-repaired",
    ),
)

FORM = (
    repaired("a preamble before the JSON", "Sure, here it is:\n" + GOOD),
    repaired("closing words after the JSON", GOOD + "\nLet me know if you need more."),
    repaired("a fence around the JSON", f"```json\n{GOOD}\n```"),
    repaired("a byte order mark", "\ufeff" + GOOD),
    repaired("a draft thought aloud before", '<think>{"pages": [{"topic": "t1"}]}</think>' + GOOD),
    repaired("cut off after the page", GOOD[: GOOD.index('{"topic": "t2"') + 30]),
    repaired("a list without the object around it", json.dumps([GOOD_PAGE, VALVE_PAGE])),
    repaired("a page twice, word for word", answer(GOOD_PAGE, GOOD_PAGE)),
    repaired("the topic as a number", page(topic=1)),
    repaired("the topic in upper case", page(topic="[T1]")),
    repaired("citations as one string", GOOD.replace('["c2"]', '"c2"')),
    repaired("citations in brackets", GOOD.replace('["c2"]', '["[c2]"]')),
    repaired("citations in upper case", GOOD.replace('["c2"]', '["C2"]')),
    repaired("citations as numbers", GOOD.replace('["c2"]', "[2]")),
    repaired("a citation given twice", GOOD.replace('["c2"]', '["c2", "c2"]')),
    repaired("an invented citation beside a good one", GOOD.replace('["c2"]', '["c2", "c81"]')),
    repaired("a citation inside of the text", GOOD.replace("refused.", "refused [c4].")),
    repaired("code declared as prose", GOOD.replace('"kind": "code"', '"kind": "prose"')),
    repaired("an unknown kind", GOOD.replace('"kind": "prose"', '"kind": "paragraph"')),
    repaired("NUL and control characters", GOOD.replace("restart.", "restart\\u0000.\\u0007")),
    repaired("a lone surrogate", GOOD.replace("restart.", "restart\\ud800.")),
    repaired("NaN where nothing belongs", GOOD.replace('"tags"', '"score": NaN, "tags"')),
    repaired("keys that nobody asked for", page(confidence=0.9, comment=None)),
)
