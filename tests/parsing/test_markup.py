import pytest

from llmwiki.parsing.markdown.markup import to_commonmark


def _lines(text: str, *, is_mdx: bool = False) -> list[str]:
    """Return the lines that are not blank, without what surrounds them."""
    rewritten = to_commonmark(text, is_mdx=is_mdx)
    return [line.strip() for line in rewritten.split("\n") if line.strip()]


@pytest.mark.parametrize(
    "code",
    [
        "```go\n{{< tab >}}\n<b>x</b> <!-- y -->\n:::note\n!!! tip\n```",
        "~~~\n```\n{{% param x %}}\n{* x *}\n~~~",
        "> ```\n> {#id}\n>\n> import x from 'y'\n> ```",
        "- item\n\n  ```yaml\n  a: {{ value }}\n\n  b: <x>\n  ```",
        "````\n```\n{/* x */}\n```\n````",
        "```\nnever closed {{< x >}}",
    ],
)
def test_code_fences_are_never_changed(code: str) -> None:
    rewritten = to_commonmark(code, is_mdx=True)
    # An empty line inside of an indented fence may gain the indentation of its fence.
    assert [line.rstrip() for line in rewritten.split("\n")] == code.split("\n")


@pytest.mark.parametrize(
    "span", ["`{{% param x %}}`", "`` a ` <b> ``", "`{#id}`", "`{x}`", "`<!-- x -->`", "`<T>`"]
)
def test_code_spans_are_never_changed(span: str) -> None:
    assert to_commonmark(f"Use {span} here.", is_mdx=True) == f"Use {span} here."


def test_a_literal_shortcode_is_documentation_and_stays() -> None:
    text = "Write {{%/* param title */%}} or {{</* tab */>}}."
    assert to_commonmark(text) == text


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ('Python hl_lines="1 3"', "Python"),
        ('js {1,3-5} title="a.js"', 'js title="a.js"'),
        ("javascript {hl_lines=[7,11]}", "javascript"),
        ("{ .dockerfile .annotate }", "dockerfile"),
        ("{code-block} python", "python"),
        ("ts showLineNumbers", "ts"),
    ],
)
def test_highlighting_goes_from_the_first_line_of_a_fence(info: str, expected: str) -> None:
    assert to_commonmark(f"```{info}\nx\n```") == f"```{expected}\nx\n```"


def test_comments_that_highlight_go_from_code() -> None:
    assert to_commonmark("```js\n// highlight-next-line\nx\n```") == "```js\nx\n```"


def test_tabs_of_hugo_keep_their_names_and_text() -> None:
    text = (
        "{{< tabpane text=true >}} {{% tab Go %}}\n\nFirst.\n\n{{% /tab %}}"
        ' {{% tab header="Maven (`pom.xml`)" lang=x %}}\n\nSecond.\n\n{{% /tab %}} {{< /tabpane >}}'
    )
    assert _lines(text) == ["Go:", "First.", "Maven (`pom.xml`)", "Second."]


def test_alerts_of_hugo_keep_their_title_and_text() -> None:
    text = (
        '{{% alert title="Mind this" color="x" %}} Text.\n{{% /alert %}}\n'
        "{{% alert %}}\nB\n{{% /alert %}}"
    )
    assert _lines(text) == ["Mind this:", "Text.", "Alert:", "B"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {{% param vers.otel %}} b", "a  b"),
        ("**{{% param x %}}** b", " b"),
        ("{{% include file.md %}}", ""),
        ("{{<youtube abc>}}", ""),
        ("{{< comment >}}\nhidden ```x``` text\n{{< /comment >}}", ""),
        ("[text](https://x/{{% param v %}}/y)", "[text](#)"),
        ("{{ $name }}{{ if $x }}a{{ end }}", "a"),
    ],
)
def test_other_shortcodes_go(text: str, expected: str) -> None:
    assert to_commonmark(text) == expected


def test_shortcodes_that_name_an_option_keep_its_name_and_default() -> None:
    text = (
        '{{% config_option\n  name="otel.x"\n  default=true\n%}} Enables it. {{% /config_option %}}'
    )
    assert _lines(text) == ["otel.x (default: true):", "Enables it."]


def test_figures_keep_their_caption() -> None:
    assert _lines('{{< figure src="a.png" caption="The flow" >}}') == ["The flow"]


def test_highlight_shortcodes_become_fences() -> None:
    text = "{{< highlight go >}}\na <b>\n{{< /highlight >}}"
    assert _lines(text) == ["```go", "a <b>", "```"]


def test_admonitions_of_mkdocs_keep_title_and_body() -> None:
    text = (
        '!!! note "Read `this`!"\n    Body.\n\n    ```\n    code\n    ```\n\n'
        "    ??? tip\n        Inner.\n\nAfter.\n\n"
        '!!! danger ""\n    Untitled.\n'
    )
    expected = ["Read `this`!", "Body.", "```", "code", "```", "Tip:", "Inner.", "After."]
    assert _lines(text) == [*expected, "Untitled."]
    assert "\n```\ncode\n```\n" in to_commonmark(text)


def test_tabs_of_mkdocs_keep_their_names() -> None:
    assert _lines('=== "Python 3.9"\n\n    One.\n\n=== "C"\n\n    Two.') == [
        "Python 3.9:", "One.", "C:", "Two.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/// tip | Technical details\n\nText.\n\n///", ["Technical details:", "Text."]),
        ("/// note\n    attrs: {class: x}\nText.\n///", ["Note:", "Text."]),
        (":::tip Title\nText.\n:::", ["Title:", "Text."]),
        (":::caution\nText.\n:::", ["Caution:", "Text."]),
        ("::: warning\nText.\n:::", ["Warning:", "Text."]),
        (":::note[A *title*]\nText.\n:::", ["A *title*", "Text."]),
        (":::{note} Title\n:class: x\nText.\n:::", ["Title:", "Text."]),
        ("```{tip} Title\n:class: x\nText.\n```", ["Title:", "Text."]),
        ("````{note}\n```py\nx\n```\n````", ["Note:", "```py", "x", "```"]),
        ("> [!NOTE]\n> Text.", ["> Note:", ">", "> Text."]),
        ("> [!TIP] Title\n> Text.", ["> Title:", ">", "> Text."]),
        ("```mdx-code-block\n<APITable>\n```\n|a|\n```mdx-code-block\n</APITable>\n```", ["|a|"]),
        ("::: fastapi.FastAPI\n    options:\n        members:\n            - get\n\nEnd",
         ["`fastapi.FastAPI`", "End"]),
    ],
)  # fmt: skip
def test_admonitions_of_every_dialect_keep_title_and_text(text: str, expected: list[str]) -> None:
    assert _lines(text) == expected


def test_headings_inside_of_admonitions_are_no_headings_and_those_of_tabs_are() -> None:
    assert _lines(":::note\n## Inner\n:::\n## Outer") == ["Note:", "Inner", "## Outer"]
    assert _lines("!!! tip\n    # Inner\n\n# Outer") == ["Tip:", "Inner", "# Outer"]
    assert _lines("{{% tab Go %}}\n## Inner\n{{% /tab %}}") == ["Go:", "## Inner"]


def test_a_block_that_nothing_closes_leaves_headings_alone() -> None:
    assert _lines(":::note\nText.\n\n## Next") == ["Note:", "Text.", "## Next"]


@pytest.mark.parametrize(
    "include", ["{* ../../docs_src/x.py hl[2] *}", "{!../../x.md!}", "{!> ../x.py!}", "[TOC]"]
)
def test_includes_go(include: str) -> None:
    assert _lines(f"A.\n\n{include}\n\nB.") == ["A.", "B."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title { #anchor }", "# Title"),
        ("# Title {#anchor .x}", "# Title"),
        ("![a](b){.w-75} c", "![a](b) c"),
        ("[a](b){: target=_blank } c", "[a](b) c"),
        ("`a`{.lang} c", "`a` c"),
        ("text {:ok, 1} and {: } x", "text {:ok, 1} and {: } x"),
        ("{: .class }", ""),
        ("/users/{id}", "/users/{id}"),
    ],
)
def test_attribute_lists_go_and_other_braces_stay(text: str, expected: str) -> None:
    assert to_commonmark(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ref}`the guide <target>`", "the guide"),
        ("{doc}`guide`", "guide"),
        ("{py:func}`run`", "`run`"),
        ("/items/{item_id}", "/items/{item_id}"),
    ],
)
def test_roles_of_myst_become_their_text(text: str, expected: str) -> None:
    assert to_commonmark(text) == expected


def test_mdx_modules_comments_and_expressions_go_outside_of_code() -> None:
    text = (
        "import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from 'x';\n"
        "export const a = {\n  b: 1,\n};\n\n# T\n\n{/* hidden */}\n\n"
        "A {props.name} {'kept'} $\\frac{a}{b}$ v{1}.\n\n```js\nimport x from 'y';\n```"
    )
    assert _lines(text, is_mdx=True) == [
        "# T", "A  kept $\\frac{a}{b}$ v{1}.", "```js", "import x from 'y';", "```",
    ]  # fmt: skip


def test_sentences_that_begin_with_import_stay() -> None:
    text = "import the data from 'a file' first\nexport it later"
    assert to_commonmark(text, is_mdx=True) == text


def test_components_of_jsx_go_and_their_labels_and_text_stay() -> None:
    text = (
        "<Tabs\n  values={[\n    {label: 'L', value: 'l'},\n  ]}>\n"
        '<TabItem value="l" label="Linux">\n\nText.\n\n</TabItem>\n</Tabs>\n<TOCInline toc={toc} />'
    )
    assert _lines(text, is_mdx=True) == ["Linux:", "Text."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<br/>b <b>c</b><!-- d\n\ne -->", ["a b c"]),
        ("<details>\n<summary>More</summary>\n\nText.\n</details>", ["More", "Text."]),
        ("<script>\nlet x\n\ny\n</script>\n<style>a{}</style>\nText", ["Text"]),
        ('<a href="https://x.io/a"><b>T</b></a>', ["[T](<https://x.io/a>)"]),
        ('<a href="/local">T</a>', ["T"]),
        ('<img src="x.png" alt="A flow">', ["A flow"]),
        ("<h2 align='center'>Title</h2>", ["## Title"]),
        ("<pre><code>a &lt; <b>b</b>\n\n  c</code></pre>", ["```", "a < b", "c", "```"]),
        ("<code>a*b*</code>", ["`a*b*`"]),
        ("<ul>\n    <li>a</li>\n    <li>b</li>\n</ul>", ["- a", "- b"]),
        ("| a<p>b</p> |", ["| a b  |"]),
        ("<https://x.io>", ["<https://x.io>"]),
        ('<el-button (click)="go()" [off]="x" *ngIf="y" #ref>Go</el-button>', ["Go"]),
        ("<Row onClick={() => { go({a: {b: {c: 1}}}) }} />Text", ["Text"]),
    ],
)
def test_html_goes_and_its_text_stays(text: str, expected: list[str]) -> None:
    assert _lines(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<YOUR_KEY>",
        "Set<String>",
        "<user>",
        "a < b > c",
        "pick<T extends object = {}>(x)",
        "Map<K extends Key, V = string>",
        "List<? super T>",
    ],
)
def test_what_only_looks_like_a_tag_stays(text: str) -> None:
    assert to_commonmark(text).replace("\\", "") == text


def test_deep_indentation_inside_of_html_is_not_taken_for_code() -> None:
    text = "<table>\n  <tr>\n      <td>a</td>\n      <td>b</td>\n  </tr>\n</table>"
    assert all(not line.startswith("    ") for line in to_commonmark(text).split("\n"))


@pytest.mark.parametrize(
    "piece", ["<script>", "{% x ", "<!--", "{{< x ", "{{< highlight x >}}\n", "`", "<a b={", "{{<"]
)
def test_openings_without_end_take_linear_time(piece: str) -> None:
    to_commonmark(piece * 20_000, is_mdx=True)


def test_characters_that_the_rewriting_uses_itself_survive() -> None:
    text = "\ufdd00\ufdd0 `code` \ufdd1"
    assert to_commonmark(text) == text
