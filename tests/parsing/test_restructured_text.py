import sys
import threading
from pathlib import Path
from textwrap import dedent

import pytest
from docutils.parsers.rst import directives, roles

from llmwiki.parsing.parsed import Block, ParsedDocument
from llmwiki.parsing.restructured_text.parser import parse_restructured_text


def parse(text: str) -> ParsedDocument:
    return parse_restructured_text("guide/page.rst", dedent(text).lstrip("\n"))


def blocks(text: str) -> list[Block]:
    return [block for section in parse(text).sections for block in section.blocks]


def texts(text: str) -> list[str]:
    return [block.text for block in blocks(text)]


def test_nested_titles_become_paths() -> None:
    document = parse(
        """
        Guide
        =====

        Start here.

        Install
        -------

        Use pip.

        From source
        ~~~~~~~~~~~

        Clone it.

        Use
        ---

        Run it.
        """
    )
    assert document.title == "Guide"
    assert [section.path for section in document.sections] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "From source"),
        ("Guide", "Use"),
    ]


def test_text_before_the_first_title_has_an_empty_path() -> None:
    assert parse("Before.\n\nTitle\n=====\n\nAfter.\n").sections[0].path == ()


def test_a_document_without_titles_is_named_after_its_file() -> None:
    assert parse("Only a paragraph.").title == "page"


def test_lines_of_a_paragraph_are_joined() -> None:
    assert texts("One line\nand the next.\n") == ["One line and the next."]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (":class:`~flask.Flask`", "`Flask`"),
        (":meth:`~a.b.C.run`", "`run`"),
        (":py:func:`json.dumps`", "`json.dumps`"),
        (":attr:`.Flask.name`", "`Flask.name`"),
        (":func:`!not_linked`", "`not_linked`"),
        (":func:`the loader <pkg.load>`", "`the loader`"),
        (":ref:`the guide <guide-label>`", "the guide"),
        (":doc:`/patterns/celery`", "patterns/celery"),
        (":doc:`Celery </patterns/celery>`", "Celery"),
        (":term:`WSGI`", "WSGI"),
        (":abbr:`LIFO (last-in, first-out)`", "LIFO (last-in, first-out)"),
        (":file:`{base}_{name}.html`", "`{base}_{name}.html`"),
        (":envvar:`FLASK_DEBUG`", "`FLASK_DEBUG`"),
        (":pep:`8`", "PEP 8"),
        (":rfc:`2616#section-5`", "RFC 2616"),
        (":issue:`4926`", "#4926"),
        (":somebody-s-own:`text of it`", "text of it"),
        (":math:`\\alpha^2`", "`\\alpha^2`"),
        ("``literal``", "`literal`"),
        ("``a `tick` b``", "`` a `tick` b ``"),
        ("`interpreted`", "`interpreted`"),
        ("*soft* and **hard**", "soft and hard"),
        ("`Site <https://example.org/a>`_", "Site (https://example.org/a)"),
        ("`Local <other.html>`_", "Local"),
        ("https://example.org/b", "https://example.org/b"),
        ("v\\ |version|", "v|version|"),
        ("escaped \\*star\\*", "escaped *star*"),
    ],
)
def test_inline_markup_leaves_its_text(source: str, shown: str) -> None:
    assert texts(f"See {source} now.") == [f"See {shown} now."]


def test_a_named_link_carries_the_address_from_the_end_of_the_document() -> None:
    source = "Read the Manual_ or `the other`__.\n\n.. _Manual: https://m.org/\n__ https://o.org/\n"
    assert texts(source) == ["Read the Manual (https://m.org/) or the other (https://o.org/)."]


def test_a_link_without_a_target_keeps_its_text() -> None:
    assert texts("See Nowhere_ and `no where`_.") == ["See Nowhere and no where."]


def test_a_substitution_of_the_document_is_replaced() -> None:
    source = "Call |name| or |logo|.\n\n.. |name| replace:: the *full* name\n"
    source += ".. |logo| image:: logo.png\n   :alt: Our logo\n"
    assert texts(source) == ["Call the full name or Our logo."]


def test_raw_html_in_running_text_leaves_its_text() -> None:
    source = "One |br| two :raw-html:`<b>bold &amp; more</b>` and <br> as it is said.\n\n"
    source += ".. |br| raw:: html\n\n   <br/>\n\n"
    source += ".. role:: raw-html(raw)\n   :format: html\n"
    assert texts(source) == ["One two bold & more and <br> as it is said."]


def test_substitutions_that_double_at_each_step_stay_small() -> None:
    steps = [f".. |s{n}| replace:: |s{n + 1}| |s{n + 1}|\n" for n in range(200)]
    source = "Start |s0|.\n\n" + "".join(steps) + ".. |s200| replace:: end\n"
    assert sum(map(len, texts(source))) < 100_000


@pytest.mark.parametrize("name", ["code-block", "sourcecode", "code"])
def test_code_directives_become_fences_with_their_language(name: str) -> None:
    options = "   :linenos:\n   :emphasize-lines: 1,\n      2\n"
    source = f".. {name}:: python\n{options}\n   if x:\n       y()\n"
    assert blocks(source) == [Block(kind="code", text="```python\nif x:\n    y()\n```")]


def test_the_caption_of_code_is_kept() -> None:
    source = ".. code-block:: python\n    :caption: ``app/main.py``\n\n    run()\n"
    assert texts(source) == ["``app/main.py``", "```python\nrun()\n```"]


def test_code_directly_below_its_directive_is_kept() -> None:
    assert texts(".. code-block:: sh\n   make\n") == ["```sh\nmake\n```"]


def test_a_literal_block_becomes_a_fence_longer_than_what_it_holds() -> None:
    assert texts("Like so::\n\n    ```\n    x\n    ```\n")[1] == "````\n```\nx\n```\n````"


def test_a_doctest_becomes_a_fence() -> None:
    assert texts(">>> 1 + 1\n2\n") == ["```pycon\n>>> 1 + 1\n2\n```"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (".. note:: Mind\n   the gap.\n", ["Note: Mind the gap."]),
        (".. warning::\n   :class: x\n\n   Hot.\n\n   Very.\n", ["Warning: Hot.", "Very."]),
        (".. admonition:: Why?\n\n   Because.\n", ["Why?", "Because."]),
        (".. seealso:: Elsewhere.\n", ["See also: Elsewhere."]),
        (".. versionadded:: 3.0\n", ["Added in version 3.0."]),
        (
            ".. versionadded:: 3.0\n   The ``x`` option.\n",
            ["Added in version 3.0: The `x` option."],
        ),
        (".. versionchanged:: 2.1 It is faster.\n", ["Changed in version 2.1: It is faster."]),
        (".. deprecated:: 2.2\n\n   Use y.\n", ["Deprecated since version 2.2: Use y."]),
        (".. autoclass:: Flask\n   :members:\n   :inherited-members:\n", ["`Flask`"]),
        (".. automodule:: flask.json\n", ["`flask.json`"]),
        (".. py:function:: run(a, b)\n   :noindex:\n\n   Runs.\n", ["`run(a, b)`", "Runs."]),
        (".. function:: run(a,\n                 b)\n", ["`run(a, b)`"]),
        (".. method:: get()\n            put()\n", ["`get()`", "`put()`"]),
        (".. http:get:: /users\n\n   Lists.\n", ["`/users`", "Lists."]),
        (".. tabs::\n\n   .. tab:: Linux\n\n      apt\n", ["Linux", "apt"]),
        (".. only:: html\n\n   Web.\n", ["Web."]),
        (".. image:: a.png\n   :alt: A diagram\n   :width: 50 %\n", ["A diagram"]),
        (".. figure:: a.png\n   :alt: Alt.\n\n   The caption.\n", ["Alt.", "The caption."]),
        (".. rubric:: Notes\n", ["Notes"]),
        (".. never-heard-of:: An argument\n   :option: 1\n\n   Text.\n", ["An argument", "Text."]),
        (".. math:: a = b\n", ["```math\na = b\n```"]),
    ],
)
def test_directives_leave_what_is_for_readers(source: str, shown: list[str]) -> None:
    assert texts(source) == shown


@pytest.mark.parametrize(
    "source",
    [
        ".. toctree::\n   :maxdepth: 2\n   :caption: Contents\n\n   install\n   use\n",
        ".. currentmodule:: flask\n",
        ".. index:: single: x; y\n",
        ".. index::\n   pair: a; b\n",
        ".. highlight:: python\n",
        ".. contents:: Table\n   :local:\n",
        ".. a comment\n   over lines\n",
        ".. _label:\n",
        ".. raw:: html\n\n   <b>x</b>\n",
        ".. testsetup:: *\n\n   import x\n",
        ".. |today| date::\n",
        ".. role:: custom\n   :class: x\n",
        ".. default-role:: code\n",
    ],
)
def test_what_steers_the_rendering_goes(source: str) -> None:
    assert texts(f"Before.\n\n{source}\nAfter.\n") == ["Before.", "After."]


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {}",
        ".. literalinclude:: {}",
        ".. raw:: html\n   :file: {}",
        ".. csv-table::\n   :file: {}",
        ".. code-block:: python\n   :file: {}",
    ],
)
def test_no_directive_reads_the_disk(directive: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2,of the disk\n")
    source = f"Text.\n\n{directive.format(secret)}\n"
    assert not any("hunter2" in text for text in texts(source))


def test_lists_become_one_line_an_item() -> None:
    source = """
        - First
          goes on.
        - Second

          has a paragraph.

          1. Inner
          2. Other

        - Last
        """
    assert blocks(source) == [
        Block(
            kind="list",
            text="- First goes on.\n- Second has a paragraph.\n  1. Inner\n  2. Other\n- Last",
        )
    ]


def test_code_in_an_item_stands_between_the_parts_of_the_list() -> None:
    source = "- Do::\n\n    x\n\n  Then.\n\n- Next\n"
    assert [(block.kind, block.text) for block in blocks(source)] == [
        ("list", "- Do:"),
        ("code", "```\nx\n```"),
        ("paragraph", "Then."),
        ("list", "- Next"),
    ]


def test_two_lists_stay_apart() -> None:
    assert texts("- a\n\n..\n\n- b\n") == ["- a", "- b"]


def test_enumerations_keep_their_numbers() -> None:
    assert texts("3. c\n4. d\n\nThen\n\na) x\nb) y\n") == ["3. c\n4. d", "Then", "a. x\nb. y"]


def test_definitions_fields_options_and_footnotes_are_kept() -> None:
    assert texts("term : kind\n    What it *is*.\n") == ["- term (kind): What it is."]
    assert texts("Text.\n\n:param x: the x\n:returns: y\n")[1] == "- param x: the x\n- returns: y"
    assert texts("-v, --verbose  Say more.\n--level=N      Set it.\n") == [
        "- `-v, --verbose`: Say more.\n- `--level=N`: Set it."
    ]
    assert texts("Seen [#]_ and [CIT]_.\n\n.. [#] A note.\n.. [CIT] A book.\n") == [
        "Seen [1] and [CIT].",
        "[1] A note.",
        "[CIT] A book.",
    ]


def test_line_blocks_keep_their_lines() -> None:
    assert texts("| one\n| two\n") == ["one\ntwo"]


def test_a_simple_table_becomes_rows_with_its_header() -> None:
    source = """
        =====  =======
        Key    Meaning
        =====  =======
        ``a``  x | y
        b      second
        =====  =======
        """
    assert blocks(source) == [
        Block(
            kind="table",
            text="| Key | Meaning |\n| --- | --- |\n| `a` | x \\| y |\n| b | second |",
            header="| Key | Meaning |\n| --- | --- |",
        )
    ]


def test_cells_over_several_places_of_a_grid_table_leave_the_others_empty() -> None:
    source = """
        +-----+-----+
        | A   | B   |
        +=====+=====+
        | wide      |
        +-----+-----+
        | top | one |
        |     +-----+
        |     | two |
        +-----+-----+
        """
    assert texts(source) == ["| A | B |\n| --- | --- |\n| wide |  |\n| top | one |\n|  | two |"]


def test_a_table_without_header_repeats_none_of_its_rows() -> None:
    (block,) = blocks("==  ==\na   b\nc   d\n==  ==\n")
    assert block.header == "|  |  |\n| --- | --- |"
    assert block.text.endswith("| a | b |\n| c | d |")


def test_list_tables_and_csv_tables_become_tables() -> None:
    source = ".. list-table:: Ports\n   :header-rows: 1\n   :unknown: x\n\n"
    source += "   * - Name\n     - Port\n   * - web\n     - 80\n"
    assert texts(source) == ["Ports", "| Name | Port |\n| --- | --- |\n| web | 80 |"]
    source = ".. csv-table::\n   :header: a, b\n\n   1, 2\n"
    assert texts(source) == ["| a | b |\n| --- | --- |\n| 1 | 2 |"]


def test_fields_at_the_very_top_become_metadata() -> None:
    document = parse(":orphan:\n:version: 3.0\n\nTitle\n=====\n\nText.\n")
    assert document.metadata == {"orphan": "", "version": "3.0"}
    assert [block.text for block in document.sections[0].blocks] == ["Text."]


def test_bibliographic_fields_below_the_title_become_metadata() -> None:
    document = parse("Title\n=====\n\n:Author: Ada\n:Version: 2\n\nText.\n")
    assert document.metadata == {"Author": "Ada", "Version": "2"}


def test_other_fields_below_the_title_are_text() -> None:
    document = parse("Title\n=====\n\n:Setup: Do this.\n:Date: today\n\nText.\n")
    assert document.metadata == {}
    assert document.sections[0].blocks[0].text == "- Setup: Do this.\n- Date: today"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("+---+---+\n| apple | b |\n+--+\n\nafter\n", ["apple", "after"]),
        ("====  ====\nlong apple beyond\n====  ====\n\nafter\n", ["apple", "after"]),
        ("Apple\n==\n\nafter\n", ["Apple", "after"]),
        ("====\nApple pie\n====\n\nafter\n", ["Apple", "after"]),
        ("====\nApple\n\nafter\n", ["Apple", "after"]),
        ("A\n=\n\nB\n-\n\nC\n~\n\nD\n-\n\nE\n+\n\napple\n", ["apple", "E"]),
        ("*apple without end\n\n``pear\n\n`plum\n\n|fig\n", ["apple", "pear", "plum", "fig"]),
        ("- apple\nnext\n\n  odd\n      indent\n   back\n", ["apple", "next", "indent", "back"]),
        (".. list-table::\n   :widths: no\n\n   * - apple\n", ["apple"]),
        (".. note::\n\n   Apple\n   =====\n\n   pear\n", ["Apple", "pear"]),
        ("::\n\napple\n", ["apple"]),
        (":bad-role:`apple`:other: `pear`_:role:\n", ["apple", "pear"]),
        ("[#missing]_ apple |x| [1]_\n", ["apple"]),
        (".. |a| replace:: |a| apple\n\nuses |a| pear\n", ["pear"]),
    ],
)
def test_broken_markup_loses_no_words_and_prints_nothing(
    source: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    document = parse_restructured_text("page.rst", source)
    shown = "\n".join(
        [*(block.text for section in document.sections for block in section.blocks)]
        + [heading for section in document.sections for heading in section.path]
    )
    assert [word for word in words if word not in shown] == []
    for leftover in ("System Message", "Unknown", ".. ", "::", "line-length"):
        assert leftover not in shown
    assert capsys.readouterr() == ("", "")


def test_a_short_underline_does_not_repeat_the_title() -> None:
    document = parse("Apple pie\n====\n\nText.\n")
    assert [(section.path, len(section.blocks)) for section in document.sections] == [
        (("Apple pie",), 1)
    ]


def test_a_very_long_line_is_kept() -> None:
    assert len(texts("word " * 10_000)[0]) == 49_999


def test_docutils_is_as_it_was_afterwards() -> None:
    before = _registries()
    parse(".. role:: mine\n\n:mine:`x` :class:`y`\n\n.. tabs::\n\n   .. tab:: z\n")
    assert _registries() == before


def _registries() -> list[object]:
    return [
        directives.directive,
        roles.role,
        dict(vars(directives)["_directives"]),
        dict(vars(roles)["_roles"]),
    ]


def test_threads_do_not_disturb_each_other() -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(texts(":class:`~a.B`\n\n.. tip:: c\n")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["`B`", "Tip: c"]] * 8


def test_nesting_beyond_recursion_leaves_docutils_as_it_was() -> None:
    before = directives.directive
    lines = [f"{'  ' * depth}- x\n" for depth in range(sys.getrecursionlimit())]
    with pytest.raises(RecursionError):
        parse("\n".join(lines))
    assert directives.directive is before
