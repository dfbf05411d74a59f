"""Bad answers of a model, as data, and what becomes of each.

test_bad_answers.py sends every one through the reader and the gate. The table in the
documentation is made from the same data:

    python -m tests.compiler.bad_answers > docs/bad-answers.md
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llmwiki.compiler.answer import PROBLEMS
from llmwiki.compiler.gate_page import REFUSALS, REPAIRS
from llmwiki.compiler.gate_rules import REASONS
from llmwiki.domain import TopicSources
from tests.compiler.samples import chunk, topic_sources

Outcome = Literal["refused", "dropped", "repaired"]
Json = dict[str, Any]

READ = "read"
MEANINGS: Mapping[str, str] = {
    **PROBLEMS,
    **REFUSALS,
    **REASONS,
    **REPAIRS,
    READ: "only the form is wrong; the page is read as it was meant",
}

RELAY = topic_sources(
    1,
    "Relay",
    chunk(
        11,
        "The relay listens on port 7070 and forwards each message to the valve. "
        "It keeps its state in memory and forgets it on restart.",
    ),
    chunk(
        12,
        "Start the relay with `relay serve --port 7070`:\n\n"
        "```console\nrelay serve --port 7070\nrelay status\n```",
    ),
    chunk(
        13,
        "| Option | Default |\n|---|---|\n| `--port` | 7070 |\n| `--workers` | 4 |",
        breadcrumb=("Relay", "Options"),
    ),
    chunk(
        14,
        "The relay refuses messages larger than 256 KB. "
        "See https://relay.example/limits for the reasons.",
        breadcrumb=("Relay", "Limits"),
    ),
)
VALVE = topic_sources(
    2,
    "Valve",
    chunk(21, "A valve opens slowly, so that the pressure behind it falls evenly.", path="v.md"),
    chunk(22, "A closed valve holds every message until it opens again.", path="v.md"),
)
CHINESE = topic_sources(
    1,
    "中继",
    chunk(31, "中继在端口7070上监听并把每条消息转发给阀门。重启之后内存中的状态会丢失。"),
    chunk(32, "中继拒绝大于256千字节的消息原因写在限制一章里。"),
)
EMPTY = topic_sources(1, "Relay")
PACK = (RELAY, VALVE)


def said(text: object, *sources: object, kind: object = "prose") -> Json:
    return {"text": text, "kind": kind, "sources": list(sources)}


CODE = "```console\nrelay serve --port 7070\nrelay status\n```"
TABLE = "| Option | Default |\n|---|---|\n| `--port` | 7070 |\n| `--workers` | 4 |"
GOOD_STATEMENTS: tuple[Json, ...] = (
    said("The relay listens on port 7070 and passes each message on to the valve.", "c1"),
    said("Its state is kept in memory and is forgotten on restart.", "c1"),
    said("`relay serve --port 7070` starts it.", "c2"),
    said(CODE, "c2", kind="code"),
    said(TABLE, "c3", kind="table"),
    said("Messages larger than 256 KB are refused.", "c4"),
)
GOOD_PAGE: Json = {
    "topic": "t1",
    "title": "Relay",
    "tldr": {"text": "The relay forwards messages to the valve.", "sources": ["c1"]},
    "tags": ["relay", "messages"],
    "sections": [{"heading": "Relay", "statements": list(GOOD_STATEMENTS)}],
}
VALVE_PAGE: Json = {
    "topic": "t2",
    "title": "Valve",
    "tldr": {"text": "A valve opens slowly.", "sources": ["c5"]},
    "tags": ["valve"],
    "sections": [
        {
            "heading": "",
            "statements": [said("A closed valve holds every message until it opens.", "c6")],
        }
    ],
}


def answer(*pages: object) -> str:
    return json.dumps({"pages": [*pages, VALVE_PAGE]}, ensure_ascii=False)


def page(**changes: object) -> str:
    return answer({**GOOD_PAGE, **changes})


def sections(*statements: object, heading: object = "Relay") -> list[Json]:
    return [{"heading": heading, "statements": list(statements)}]


def also(text: object, *sources: object, kind: object = "prose") -> str:
    """Answer with the good page and one statement more."""
    return page(sections=sections(*GOOD_STATEMENTS, said(text, *sources, kind=kind)))


def only(*statements: object) -> str:
    return page(sections=sections(*statements))


GOOD = page()


@dataclass(frozen=True, slots=True, kw_only=True)
class BadAnswer:
    """An answer to the pack, and what becomes of the page of its first topic."""

    name: str
    answer: str
    outcome: Outcome
    code: str
    pack: Sequence[TopicSources] = PACK
    previous_length: int = 0


def refused(name: str, answer: str, code: str, **more: Any) -> BadAnswer:  # noqa: ANN401
    return BadAnswer(name=name, answer=answer, outcome="refused", code=code, **more)


def dropped(name: str, answer: str, code: str, **more: Any) -> BadAnswer:  # noqa: ANN401
    return BadAnswer(name=name, answer=answer, outcome="dropped", code=code, **more)


def repaired(name: str, answer: str, code: str = READ) -> BadAnswer:
    return BadAnswer(name=name, answer=answer, outcome="repaired", code=code)


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
    refused("a page of a topic without passages", page(), "no-sources", pack=(EMPTY,)),
    refused(
        "no summary and no sentence that could be one",
        page(tldr=None, sections=sections(*GOOD_STATEMENTS[3:5])),
        "no-tldr",
    ),
)
CITATIONS = (
    dropped("no citation", also("The relay listens."), "no-citation"),
    dropped("an invented citation", also("The relay listens.", "c81"), "no-citation"),
    dropped("a citation of another topic", also("A valve opens slowly.", "c5"), "no-citation"),
    dropped("a file name as a citation", also("The relay listens.", "relay.md"), "no-citation"),
    dropped(
        "null as citations",
        page(
            sections=sections(
                *GOOD_STATEMENTS, {"text": "The relay listens.", "kind": "prose", "sources": None}
            )
        ),
        "no-citation",
    ),
    dropped("a database id as a citation", also("The relay listens.", 11), "no-citation"),
)
DETAILS = (
    dropped("a number changed", also("It listens on port 7071.", "c1"), "unsupported-detail"),
    dropped("a number cut", also("It listens on port 70.", "c1"), "unsupported-detail"),
    dropped(
        "a number of another passage", also("Port 7070 is the limit.", "c4"), "unsupported-detail"
    ),
    dropped(
        "a unit turned into a share",
        also("It refuses 256 % of messages.", "c4"),
        "unsupported-detail",
    ),
    dropped(
        "an option invented", also("`--verbose` shows each message.", "c2"), "unsupported-detail"
    ),
    dropped(
        "an identifier changed",
        also("Call `relay.start_server()` first.", "c2"),
        "unsupported-detail",
    ),
    dropped(
        "an address invented", also("See https://relay.example/faq.", "c4"), "unsupported-detail"
    ),
    dropped(
        "an address on another host",
        also("See https://relay.evil.example/limits.", "c4"),
        "unsupported-detail",
    ),
    dropped(
        "a version added",
        also("Since 2.4.1 the relay keeps its state in memory.", "c1"),
        "unsupported-detail",
    ),
    dropped(
        "knowledge of its own",
        also("Operators usually prefer Kubernetes clusters with several regional replicas.", "c1"),
        "unrelated",
    ),
)
BLOCKS = (
    dropped(
        "a line of code changed",
        also("```\nrelay serve --port 80\n```", "c2", kind="code"),
        "code-not-verbatim",
    ),
    dropped(
        "a line of code added",
        also("```console\nrelay serve --port 7070\nrelay destroy\n```", "c2", kind="code"),
        "code-not-verbatim",
    ),
    dropped(
        "an option left out of a command",
        also("```\nrelay serve\n```", "c2", kind="code"),
        "code-not-verbatim",
    ),
    dropped(
        "prose declared as code", also("The relay is fast.", "c1", kind="code"), "code-not-verbatim"
    ),
    dropped(
        "the whole page in one fence",
        also("```markdown\n# Relay\nThe relay listens on port 7070.\n```", "c1"),
        "code-not-verbatim",
    ),
    dropped("an empty block of code", also("```\n```", "c2", kind="code"), "empty"),
    dropped(
        "a row of a table changed",
        also(TABLE.replace("4", "8"), "c3", kind="table"),
        "table-not-verbatim",
    ),
    dropped(
        "a table made up",
        also("| Port |\n|---|\n| 7070 |", "c1", kind="table"),
        "table-not-verbatim",
    ),
    dropped(
        "rows of a table dropped",
        also(TABLE.rsplit("\n", 1)[0], "c3", kind="table"),
        "table-rows-missing",
    ),
    dropped("a table of nothing but its rule", also("|---|---|", "c3", kind="table"), "empty"),
)
TALK = (
    dropped("a preamble", also("Sure! Here is the page about the relay.", "c1"), "preamble"),
    dropped(
        "an apology", also("I'm sorry, but I could not find the default port.", "c1"), "preamble"
    ),
    dropped(
        "a model that names itself", also("As an AI, I cannot run the relay.", "c1"), "preamble"
    ),
    dropped("a label in the text", also("As c2 says, the relay starts.", "c2"), "leak"),
    dropped(
        "a citation of another topic in the text", also("The relay listens [c5].", "c1"), "leak"
    ),
    dropped(
        "the passages named", also("The passages describe how the relay listens.", "c1"), "leak"
    ),
    dropped("the request named", also("As requested, the relay listens.", "c1"), "leak"),
    dropped("the form of the request copied", also("--- END the relay listens", "c1"), "leak"),
)
MARKUP = (
    dropped("a script", also("The relay listens.<script>steal()</script>", "c1"), "markup"),
    dropped("an HTML element", also("The <b onclick=go>relay</b> listens.", "c1"), "markup"),
    dropped("a frame", also("<iframe src=x></iframe> The relay listens.", "c1"), "markup"),
    dropped("an image", also("The relay listens. ![state](relay.png)", "c1"), "markup"),
    dropped("a script address", also("The [relay](javascript:go) listens.", "c1"), "markup"),
    dropped("a comment", also("The relay listens. <!-- note -->", "c1"), "markup"),
    dropped("a fence in prose", also("The relay listens:\n```\nrelay", "c1"), "block-markup"),
    dropped("a heading in prose", also("## Relay\nThe relay listens.", "c1"), "block-markup"),
    dropped("a table in prose", also("The relay:\n| a | b |\nlistens", "c1"), "block-markup"),
)
INJECTIONS = (
    dropped(
        "a footnote's definition in prose",
        also("[^1]: The relay forwards each message to the valve.", "c1"),
        "block-markup",
    ),
    dropped(
        "a footnote's mark in prose",
        also("The relay listens for each message[^2].", "c1"),
        "block-markup",
    ),
    dropped("the definition of a link", also("[relay]: /evil", "c1"), "block-markup"),
    dropped(
        "a line that makes a heading of the one above",
        also("The relay listens\n===\nfor messages", "c1"),
        "block-markup",
    ),
    dropped(
        "a rule between paragraphs",
        also("The relay listens\n\n---\n\nfor messages", "c1"),
        "block-markup",
    ),
    dropped(
        "front matter in prose",
        also("---\ntitle: relay\n---\nThe relay listens", "c1"),
        "block-markup",
    ),
    dropped("a heading set off by a tab", also("#\tThe relay listens", "c1"), "block-markup"),
    dropped("a heading without words", also("The relay\n#\nlistens", "c1"), "block-markup"),
    dropped("a heading in a list", also("- # The relay listens", "c1"), "block-markup"),
    dropped("a quotation", also("> The relay listens", "c1"), "block-markup"),
    dropped("a fence in a list", also("- ```\n  The relay listens", "c1"), "block-markup"),
    dropped("code by indentation", also("The relay:\n\n    listens", "c1"), "block-markup"),
    dropped(
        "a table without outer bars",
        also("relay | valve\n--- | ---\nlistens | opens", "c1"),
        "block-markup",
    ),
    dropped(
        "a script between escaped backticks",
        also("The relay \\`<script src=//evil/x></script>\\` listens.", "c1"),
        "markup",
    ),
    dropped(
        "an image between backticks that do not pair",
        also("The relay `` <img onerror=go> ` listens.", "c1"),
        "markup",
    ),
    dropped(
        "a processing instruction", also("The relay <?php listens ?> for messages.", "c1"), "markup"
    ),
    dropped("a link without a scheme", also("The relay [listens](//evil/x).", "c1"), "markup"),
    dropped(
        "a link to a mailbox", also("The relay [listens](mailto:root@localhost).", "c1"), "markup"
    ),
    dropped("a link to a relative address", also("The relay [listens](/evil).", "c1"), "markup"),
    dropped(
        "a turn of the writing direction", also("The relay \u202elistens\u202c.", "c1"), "markup"
    ),
    dropped(
        "a preamble with a character of no width",
        also("Sure\u200b! The relay listens.", "c1"),
        "preamble",
    ),
    repaired("a footnote in the title", page(title="Relay[^1]"), "title-replaced"),
    repaired("a link in the title", page(title="[Relay](//evil)"), "title-replaced"),
    repaired("two lines for a title", page(title="Relay\n==="), "title-replaced"),
    repaired(
        "a turn of the writing direction in a tag",
        page(tags=["relay", "messages", "\u202erelay"]),
        "tags-normalised",
    ),
    repaired(
        "a heading with a footnote",
        page(
            sections=[
                *sections(*GOOD_STATEMENTS[:3]),
                *sections(*GOOD_STATEMENTS[3:], heading="Relay[^1]"),
            ]
        ),
        "heading-repaired",
    ),
)
LANGUAGE = (
    dropped(
        "another script",
        also("Реле слушает порт и пересылает сообщения клапану.", "c1"),
        "foreign-script",
    ),
    dropped("Chinese among English", also("中继把每条消息转发给阀门。", "c1"), "foreign-script"),
    dropped(
        "another language of the same script",
        also(
            "Der Zustand wird im Speicher gehalten und ist nach dem Neustart nicht mehr da, auch "
            "wenn das Ventil noch auf eine Nachricht wartet.",
            "c1",
        ),
        "foreign-language",
    ),
    dropped(
        "English for Chinese passages",
        answer(
            {
                **GOOD_PAGE,
                "tldr": {"text": "中继把每条消息转发给阀门。", "sources": ["c1"]},
                "sections": sections(
                    said("中继在端口7070上监听。", "c1"),
                    said("重启之后内存中的状态会丢失。", "c1"),
                    said("中继拒绝大于256千字节的消息。", "c2"),
                    said("The relay forwards every message to the valve and keeps no state.", "c1"),
                ),
            }
        ),
        "foreign-script",
        pack=(CHINESE,),
    ),
)
TEXT = (
    dropped(
        "a statement twice",
        page(sections=sections(*GOOD_STATEMENTS, GOOD_STATEMENTS[0])),
        "repeated",
    ),
    dropped(
        "a statement without end", also("The relay listens and forwards. " * 70, "c1"), "too-long"
    ),
    dropped("a statement without words", also("…", "c1"), "empty"),
    dropped("null for a statement", page(sections=sections(*GOOD_STATEMENTS, None)), "empty"),
    dropped("a number for a text", also(7070, "c1"), "empty"),
    dropped(
        "a statement that is a plain text",
        page(sections=sections(*GOOD_STATEMENTS, "The relay listens.")),
        "empty",
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

BAD_ANSWERS = (
    *NO_ANSWER,
    *WRONG_PAGE,
    *CITATIONS,
    *DETAILS,
    *BLOCKS,
    *TALK,
    *MARKUP,
    *INJECTIONS,
    *LANGUAGE,
    *TEXT,
    *SMALL_PARTS,
    *FORM,
)

_EFFECTS: Mapping[Outcome, str] = {
    "refused": "page refused",
    "dropped": "statement dropped",
    "repaired": "repaired",
}


def document() -> str:
    """Return the page of the documentation."""
    rows = (
        f"| {number} | {case.name} | {_EFFECTS[case.outcome]} | `{case.code}` "
        f"| {MEANINGS[case.code]} |"
        for number, case in enumerate(BAD_ANSWERS, start=1)
    )
    return "\n".join(
        (
            "# Bad answers, and what becomes of them",
            "",
            "A model's answer is read page by page and passes a gate before anything is written.",
            "A page that is refused keeps its last good text and stays stale; the other pages of",
            "the answer are not touched. Each row is a test in `tests/compiler/bad_answers.py`,",
            "from which this table is made.",
            "",
            "| | The answer | What happens | Reason | Because |",
            "|---|---|---|---|---|",
            *rows,
            "",
        )
    )


if __name__ == "__main__":
    sys.stdout.write(document())
