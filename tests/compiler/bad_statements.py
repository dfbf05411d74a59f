"""Answers with a statement that cites wrongly, or says what no chunk says."""

from tests.compiler.bad_answer import (
    CHINESE,
    GOOD_PAGE,
    GOOD_STATEMENTS,
    TABLE,
    also,
    answer,
    dropped,
    page,
    said,
    sections,
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
        "a number of another chunk", also("Port 7070 is the limit.", "c4"), "unsupported-detail"
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
    dropped("the chunks named", also("The chunks describe how the relay listens.", "c1"), "leak"),
    dropped("the request named", also("As requested, the relay listens.", "c1"), "leak"),
    dropped("the form of the request copied", also("--- END the relay listens", "c1"), "leak"),
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
        "English for Chinese chunks",
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
