"""Every rule sees the damage that it is for, and nothing else does."""

import pytest

from llmwiki.lint.rules import RULES
from tests.lint.damages import DAMAGES, STALE, Damage
from tests.lint.small_wiki import SmallWiki


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.code)
def test_a_rule_finds_exactly_the_damage_it_is_for(small_wiki: SmallWiki, damage: Damage) -> None:
    small_wiki.damage(*damage.statements)
    (finding,) = small_wiki.lint()
    assert (finding.severity, finding.code, finding.slug) == (
        damage.severity,
        damage.code,
        damage.slug,
    )
    assert damage.remedy in finding.message


def test_a_summary_of_changed_sources_is_named_apart_from_its_stale_page(
    small_wiki: SmallWiki,
) -> None:
    small_wiki.damage(
        "UPDATE chunk SET content_hash = 'other' WHERE id = {ledger}",
        STALE + "WHERE slug = 'ledger'",
    )
    drift, tldr = small_wiki.lint()
    assert (drift.severity, drift.code, drift.slug) == ("warning", "compile-drift", "ledger")
    assert (tldr.severity, tldr.code, tldr.slug) == ("warning", "stale-tldr", "ledger")
    assert tldr.message.endswith("“The ledger counts calls.”; run `llmwiki drain`")


def test_citations_of_a_vanished_chunk_are_warnings_on_a_stale_page(small_wiki: SmallWiki) -> None:
    small_wiki.damage("DELETE FROM chunk WHERE id = {retries}", STALE + "WHERE slug = 'guide'")
    findings = small_wiki.lint()
    assert [(finding.severity, finding.code) for finding in findings] == [
        ("warning", "compile-drift"),
        ("warning", "unresolved-citation"),
        ("warning", "unresolved-citation"),
    ]
    assert all(finding.message.endswith("run `llmwiki drain`") for finding in findings)


def test_a_page_retired_without_its_topic_leaves_broken_links(small_wiki: SmallWiki) -> None:
    small_wiki.damage("UPDATE page SET retired_at = now() WHERE slug = 'ledger'")
    findings = {(finding.code, finding.slug) for finding in small_wiki.lint()}
    assert findings == {
        ("broken-wikilink", "guide"),
        ("broken-wikilink", "overview"),
        ("topic-without-page", "ledger"),
    }


def test_a_page_that_failed_before_its_first_text_needs_a_person(small_wiki: SmallWiki) -> None:
    small_wiki.damage(
        "UPDATE page SET compiled_at = NULL, stale = true, quarantined_at = now() "
        "WHERE slug = 'ledger'"
    )
    (finding,) = small_wiki.lint()
    assert finding.code == "never-compiled"
    assert "run `llmwiki compile ledger`" in finding.message


def test_every_rule_has_its_damage() -> None:
    assert {damage.code for damage in DAMAGES} | {"stale-tldr"} == set(RULES)


def test_a_finding_is_at_most_as_grave_as_its_rule() -> None:
    assert all(damage.severity in ("warning", RULES[damage.code].severity) for damage in DAMAGES)
    assert all(rule.description.endswith(".") and rule.code == code for code, rule in RULES.items())
