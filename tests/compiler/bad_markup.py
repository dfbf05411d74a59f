"""Answers with markup that would do more in the page than stand there."""

from tests.compiler.bad_answer import GOOD_STATEMENTS, also, dropped, page, repaired, sections

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
