import pytest

from llmwiki.parsing.html.parser import parse_html
from llmwiki.parsing.parsed import Block, ParsedDocument


def parse(text: str) -> ParsedDocument:
    return parse_html("guide/page.html", text)


def blocks(text: str) -> list[Block]:
    return [block for section in parse(text).sections for block in section.blocks]


def texts(text: str) -> list[str]:
    return [block.text for block in blocks(text)]


def test_headings_become_paths() -> None:
    document = parse("<h1>Guide</h1><p>a<h2>Install</h2><p>b<h3>Linux</h3><p>c<h2>Use</h2><p>d")
    assert [section.path for section in document.sections] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "Linux"),
        ("Guide", "Use"),
    ]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>Guide - Site</title><body><h1>Guide</h1><p>x", "Guide"),
        ("<title>Two \n things</title><body><h1>A</h1><p>x<h1>B</h1><p>y", "Two things"),
        ("<title>Only this</title><p>x", "Only this"),
        ("<h2>A</h2><p>x<h2>B</h2><p>y", "A"),
        ("<title> </title><p>x", "page"),
    ],
)
def test_the_title_is_the_only_h1_else_the_title_element(source: str, title: str) -> None:
    assert parse(source).title == title


def test_only_the_main_content_is_read() -> None:
    source = """
        <html><head><style>p {}</style></head><body>
        <header>Logo</header><nav>Menu</nav><div>Beside</div>
        <main><header><h1>Title</h1></header><p>Text.</p><script>x()</script>
        <aside>Ad</aside><form>Search</form><footer>Next</footer></main>
        <footer>Legal</footer></body></html>
        """
    document = parse(source)
    assert document.title == "Title"
    assert texts(source) == ["Text."]


@pytest.mark.parametrize(
    "source",
    [
        "<div>Beside</div><article><p>Text.</p></article>",
        "<div>Beside</div><div role='main'><p>Text.</p></div>",
        "<main></main><article><p>Text.</p></article><noscript>x</noscript>",
        "<header>Logo</header><p>Text.</p><template>x</template><div hidden>x</div>",
        "<p>Text.</p><!-- a comment --><button>Copy</button><svg><text>x</text></svg>",
        "<form><h1></h1><p>Text.</p></form>",
    ],
)
def test_what_surrounds_the_content_goes(source: str) -> None:
    assert texts(source) == ["Text."]


def test_several_articles_are_all_read() -> None:
    assert texts("<article>One</article><article>Two</article>") == ["One", "Two"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Run <code>pip</code> <b>now</b>", "Run `pip` now"),
        ("Press <kbd>q</kbd>", "Press `q`"),
        ("<a href='https://e.org/x'>Site</a>.", "Site (https://e.org/x)."),
        ("<a href='https://e.org'>https://e.org</a>", "https://e.org"),
        ("<a href='other.html'>Other</a>", "Other"),
        ("Line<br>break", "Line break"),
        ("An <img src=a.png alt='image'> here", "An image here"),
        ("un<wbr>broken, a<sup>2</sup>", "unbroken, a2"),
        ("  spread \n  out&nbsp;wide ", "spread out wide"),
        ("5 &lt; 6 &amp; 7", "5 < 6 & 7"),
    ],
)
def test_inline_markup_leaves_its_text(source: str, shown: str) -> None:
    assert texts(f"<p>{source}</p>") == [shown]


def test_the_mark_that_links_a_heading_to_itself_goes() -> None:
    source = "<h1>Use<a class='headerlink' href='#use'>¶</a></h1><h2><a href='#b'>§</a>B</h2>"
    assert [section.path for section in parse(source).sections] == [("Use",), ("Use", "B")]


def test_text_without_a_paragraph_is_kept() -> None:
    assert texts("<div>One<div>Two<p>Three</p>Four</div></div>") == ["One", "Two", "Three", "Four"]


@pytest.mark.parametrize(
    "source",
    [
        "<pre><code class='language-python'>if x:\n    y()\n</code></pre>",
        "<pre class='brush:python'>if x:\n    y()</pre>",
        "<div class='highlight-python'><div><pre><span></span>if x:\n    y()\n</pre></div></div>",
        "<pre class='lang-python'><span class='linenos'>1</span>if x:<br>    y()</pre>",
        "<table><td class=linenos><pre>1</pre><td><pre class='lang-python'>if x:\n    y()</table>",
    ],
)
def test_preformatted_text_becomes_a_fence_with_its_language(source: str) -> None:
    assert blocks(source) == [Block(kind="code", text="```python\nif x:\n    y()\n```")]


def test_two_listings_in_one_block_stay_apart() -> None:
    source = "<pre><code>import a</code><code>require(a)</code></pre>"
    assert texts(source) == ["```\nimport a\nrequire(a)\n```"]


def test_lists_become_one_line_an_item() -> None:
    source = """
        <ul><li>First<li><p>Second</p><p>goes on</p><ol start=3><li>Inner<li>Other</ol></li>
        <li>Last <code>x</code></ul><ul><li>Another list</ul>
        """
    assert blocks(source) == [
        Block(
            kind="list",
            text="- First\n- Second goes on\n  3. Inner\n  4. Other\n- Last `x`",
        ),
        Block(kind="list", text="- Another list"),
    ]


def test_code_in_an_item_stands_between_the_parts_of_the_list() -> None:
    source = "<ul><li>Do<pre>x</pre>Then</li><li>Next</li></ul>"
    assert [(block.kind, block.text) for block in blocks(source)] == [
        ("list", "- Do"),
        ("code", "```\nx\n```"),
        ("paragraph", "Then"),
        ("list", "- Next"),
    ]


def test_short_definitions_become_a_list() -> None:
    source = "<dl><dt>Key<dd>Opens.<dt>Lock:<dd><p>Closes.</p></dl>"
    assert texts(source) == ["- Key: Opens.\n- Lock: Closes."]


def test_long_definitions_become_paragraphs() -> None:
    source = "<dl><dt><code>run()</code><dd><p>Runs.</p><pre>run()</pre><p>Slowly.</p></dl>"
    assert texts(source) == ["`run()`", "Runs.", "```\nrun()\n```", "Slowly."]


def test_a_table_becomes_rows_with_its_header() -> None:
    source = """
        <table><caption>Ports</caption><thead><tr><th>Name<th>Port</thead>
        <tbody><tr><td><p>web</p><p>site</p><td>80 | 443<tr><td colspan=2>none</tbody></table>
        """
    assert blocks(source) == [
        Block(kind="paragraph", text="Ports"),
        Block(
            kind="table",
            text="| Name | Port |\n| --- | --- |\n| web site | 80 \\| 443 |\n| none |  |",
            header="| Name | Port |\n| --- | --- |",
        ),
    ]


def test_a_row_of_header_cells_is_a_header() -> None:
    (block,) = blocks("<table><tr><th>A<th>B<tr><th>c<td rowspan=2>d<tr><th>e</table>")
    assert block.text == "| A | B |\n| --- | --- |\n| c | d |\n| e |  |"


def test_a_table_that_lays_out_the_page_is_read_through() -> None:
    source = "<table><tr><td><p>Left<td><table><tr><td>1<td>2</table></table>"
    assert [block.kind for block in blocks(source)] == ["paragraph", "table"]


def test_absurd_spans_do_not_fill_the_memory() -> None:
    (block,) = blocks("<table><tr><td colspan=999999999 rowspan=99999999999999>x</table>")
    assert len(block.text) < 2000


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "blockquote", "table><tr><td", "dl><dd"])
def test_ten_thousand_levels_are_not_too_deep(tag: str) -> None:
    assert "deep" in "".join(texts(f"<{tag}>" * 10_000 + "deep"))


@pytest.mark.parametrize(
    "source",
    [
        "no tag at all",
        "/just/a/path.html",
        "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE html><html><body><p>x</p></body></html>",
        "<?xml version='1.0'?><root><p>x</p></root>",
        "<p>un<closed <b>tags",
        "</div></p>stray<li>item<dt>term<dd>definition",
        "<![CDATA[x]]> text",
        "<li><dl><dt>a<ul><li><dt>b</ul></dl>",
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(source: str) -> None:
    assert texts(source)


def test_an_empty_page_has_no_sections() -> None:
    assert parse("<html><body></body></html>").sections == ()


def test_a_long_page_is_read_to_its_end() -> None:
    page = "<main>" + "<h2>T</h2><p>word</p>" * 3000 + "</main>"
    assert len(parse(page).sections) == 3000
