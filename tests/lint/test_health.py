"""What looks like damage and is none."""

# ruff: noqa: S608 - the statements are composed of constants of these tests

import pytest

from llmwiki.config import CompileSettings, GateLimits
from tests.lint.small_wiki import SmallWiki

_RETIRED_TOPIC = (
    "INSERT INTO topic (collection_id, key, title, folder, position, retired_at) "
    "VALUES ({collection}, 'gone', 'Gone', '', 9, now())"
)


def _retired_page(slug: str, title: str) -> tuple[str, str]:
    return (
        _RETIRED_TOPIC,
        (
            "INSERT INTO page "
            "(collection_id, topic_id, kind, slug, title, compiled_at, retired_at) "
            f"SELECT {{collection}}, id, 'page', '{slug}', '{title}', now(), now() "
            "FROM topic WHERE key = 'gone'"
        ),
    )


def _reword(new: str, *, kind: str = "prose") -> str:
    return (
        f"UPDATE statement SET text = '{new}', kind = '{kind}' "
        "WHERE text = 'A call is one attempt.'"
    )


NEAR_MISSES = {
    "nothing": (),
    "a retired page has no links, vector, lexemes or statements": _retired_page("gone", "Gone"),
    "a retired page has the slug of a live one but for case": _retired_page("GUIDE", "Gone"),
    "a retired page has the title of a live one": _retired_page("gone", "Guide"),
    "a retired topic has no page": (_RETIRED_TOPIC,),
    "slugs and titles that are only alike": (
        "UPDATE page SET slug = 'guide-2', title = 'Guide 2' WHERE slug = 'ledger'",
        "UPDATE page SET body = replace(body, '[ledger|', '[guide-2|') WHERE kind = 'overview'",
    ),
    "links with blanks and an anchor, and brackets that are no links": (
        (
            "UPDATE page SET body = body || E'[[ guide#queue | Guide ]]\\n[[open\\nshut]] [[]]' "
            "WHERE kind = 'overview'"
        ),
    ),
    "a source that was reflowed": (
        "UPDATE chunk SET text = replace(text, ' ', E'\\n') WHERE id = {ledger}",
    ),
    "a blank statement beside another": (
        "UPDATE statement SET text = ' ' WHERE text = 'Failed jobs wait.'",
    ),
    "a vector of another embedder and size": (
        (
            "INSERT INTO embedding (collection_id, embedder, hash, vector) "
            "SELECT collection_id, 'other', hash, '[1,2]' FROM embedding"
        ),
    ),
    "lexemes that are there and empty": (
        "UPDATE page SET search_vector = '' WHERE slug = 'ledger'",
        "UPDATE chunk SET lexemes = '' WHERE id = {ledger}",
    ),
    "a page as long as is allowed, and longer contents": (
        "UPDATE page SET body = repeat('x', 40000) WHERE slug = 'ledger'",
        "UPDATE page SET body = body || repeat('x', 40000) WHERE kind = 'overview'",
    ),
    "a source that talks like a model": (
        _reword("Sure, here is the page."),
        "UPDATE chunk SET text = 'It says: Sure, here  is the page.' WHERE id = {ledger}",
    ),
    "code that begins as a model talks": (_reword("Sure, here is the page.", kind="code"),),
    "code in a fence": (_reword("```sh\nrun\n```", kind="code"),),
    "prose that quotes the fence of its source": (
        _reword("```` opens a block and ``` closes none."),
        (
            "UPDATE chunk SET text = 'Know that ```` opens a block and ``` closes none.' "
            "WHERE id = {ledger}"
        ),
    ),
    "prose on fences that its source has": (
        _reword("A block may begin with ``` too."),
        "UPDATE chunk SET text = 'Blocks begin with ```.' WHERE id = {ledger}",
    ),
    "a template's marks in a code span and in code": (
        _reword("Use `{{< ref >}}` and `<!--`."),
        (
            "UPDATE statement SET text = '{{% note %}}', kind = 'code' "
            "WHERE text = 'Failed jobs wait.'"
        ),
    ),
    "an error page that is only mentioned": (_reword("It says Just a moment... and waits."),),
    "a detail from the heading of the cited chunk": (
        _reword("In version 3.11 a call is one attempt."),
        "UPDATE chunk SET breadcrumb = ARRAY['Ledger', 'Version 3.11'] WHERE id = {ledger}",
    ),
}


@pytest.mark.parametrize("statements", NEAR_MISSES.values(), ids=list(NEAR_MISSES))
def test_what_only_looks_like_damage_is_not_reported(
    small_wiki: SmallWiki, statements: tuple[str, ...]
) -> None:
    small_wiki.damage(*statements)
    assert small_wiki.lint() == ()


def test_a_page_stale_by_its_recipe_has_a_sound_summary(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "UPDATE page SET stale = true, stale_reasons = '{recipe}' WHERE slug = 'ledger'"
    )
    assert [finding.code for finding in small_wiki.lint()] == ["compile-drift"]


def test_a_page_that_waits_for_its_first_text_may_be_linked_and_lack_all_else(
    small_wiki: SmallWiki,
) -> None:
    small_wiki.damage(
        "UPDATE page SET compiled_at = NULL, stale = true, search_vector = NULL, "
        "embedding_hash = NULL WHERE slug = 'ledger'",
        "DELETE FROM page_source WHERE chunk_id = {ledger}",
        "DELETE FROM statement WHERE chunk_ids @> ARRAY[{ledger}]",
    )
    assert [finding.code for finding in small_wiki.lint()] == ["never-compiled"]


def test_details_are_not_compared_with_a_source_that_changed(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "UPDATE chunk SET content_hash = 'other', text = 'Nothing.' WHERE id = {queue}",
        "UPDATE page SET stale = true, stale_reasons = '{content}' WHERE slug = 'guide'",
    )
    assert [finding.code for finding in small_wiki.lint()] == ["compile-drift", "stale-tldr"]


def test_other_collections_are_left_alone(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "INSERT INTO collection (name, owner, embedder, dimension) "
        "VALUES ('docs', 'other', 'toy', 8)",
        "INSERT INTO topic (collection_id, key, title, folder, position) "
        "SELECT id, 'lost', 'Lost', '', 1 FROM collection WHERE owner = 'other'",
    )
    assert small_wiki.lint() == ()


def test_an_empty_collection_is_sound(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "DELETE FROM page", "DELETE FROM topic", "DELETE FROM document", "DELETE FROM embedding"
    )
    assert small_wiki.lint() == ()


def test_the_limit_of_a_page_is_configured(small_wiki: SmallWiki) -> None:
    small_wiki.damage("UPDATE page SET body = repeat('x', 1001) WHERE slug = 'ledger'")
    assert small_wiki.lint() == ()
    (finding,) = small_wiki.lint(CompileSettings(gate=GateLimits(max_page_characters=1000)))
    assert finding.code == "oversized-page"


def test_findings_come_errors_first_in_a_fixed_order(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "UPDATE page SET stale = true, stale_reasons = '{recipe}'  WHERE kind = 'page'",
        "UPDATE page SET search_vector = NULL",
        "UPDATE statement SET chunk_ids = '{}' WHERE role = 'body'",
    )
    findings = small_wiki.lint()
    assert [(finding.severity, finding.code, finding.slug) for finding in findings] == [
        ("error", "missing-search-vector", "guide"),
        ("error", "missing-search-vector", "ledger"),
        ("error", "missing-search-vector", "overview"),
        ("error", "uncited-statement", "guide"),
        ("error", "uncited-statement", "guide"),
        ("error", "uncited-statement", "guide"),
        ("error", "uncited-statement", "ledger"),
        ("warning", "compile-drift", "guide"),
        ("warning", "compile-drift", "ledger"),
    ]
    assert findings == small_wiki.lint()
