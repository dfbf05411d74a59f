"""What can be wrong with a wiki: one entry a fault, at least one a rule."""

# ruff: noqa: S608 - the statements are composed of constants of these tests

from dataclasses import dataclass

_DROP_LEDGER_FROM_CONTENTS = (
    "UPDATE page SET body = replace(body, '- [[ledger|Ledger]]', '') WHERE kind = 'overview'"
)
STALE = "UPDATE page SET stale = true, stale_since = now(), stale_reasons = '{content}' "
_TLDR_HASH = "(SELECT embedding_hash FROM page WHERE slug = 'ledger')"
_CHUNK_HASH = "(SELECT embedding_hash FROM chunk WHERE id = {queue})"


@dataclass(frozen=True, kw_only=True)
class Damage:
    """Statements that break one thing, and the one finding that must come of it."""

    code: str
    slug: str | None
    statements: tuple[str, ...]
    remedy: str
    severity: str = "error"


def _reword(old: str, new: str) -> str:
    return f"UPDATE statement SET text = '{new}' WHERE text = '{old}'"


DAMAGES = (
    Damage(
        code="orphan-page",
        slug="ledger",
        statements=(
            (
                "DELETE FROM page_link USING page t WHERE t.id = target_page_id "
                "AND page_link.kind = 'contents' AND t.slug = 'ledger'"
            ),
        ),
        remedy="run `llmwiki ingest`",
    ),
    Damage(
        code="orphan-page",
        slug="ledger",
        statements=(_DROP_LEDGER_FROM_CONTENTS,),
        remedy="run `llmwiki ingest`",
    ),
    Damage(
        code="orphan-page",
        slug="overview",
        statements=("DELETE FROM page WHERE kind = 'overview'",),
        remedy="run `llmwiki ingest`",
    ),
    Damage(
        code="broken-wikilink",
        slug="overview",
        statements=("UPDATE page SET body = body || '- [[ghost|Ghost]]' WHERE kind = 'overview'",),
        remedy="run `llmwiki ingest`",
    ),
    Damage(
        code="broken-wikilink",
        slug="ledger",
        statements=(
            (
                "UPDATE page SET body = body || E'\\n`[[a]]` \\\\[\\\\[b]] [[guide]] [[ghost|G]]' "
                "WHERE slug = 'ledger'"
            ),
        ),
        remedy="“ghost”, which is no live page; run `llmwiki compile ledger`",
    ),
    Damage(
        code="topic-without-page",
        slug="ledger",
        statements=("DELETE FROM page WHERE slug = 'ledger'", _DROP_LEDGER_FROM_CONTENTS),
        remedy="remove the topic's row",
    ),
    Damage(
        code="never-compiled",
        slug="ledger",
        severity="warning",
        statements=(
            (
                "UPDATE page SET compiled_at = NULL, stale = true, stale_since = now(), "
                "stale_reasons = '{never-compiled}' WHERE slug = 'ledger'"
            ),
        ),
        remedy="run `llmwiki drain`",
    ),
    Damage(
        code="compile-drift",
        slug="ledger",
        statements=("UPDATE chunk SET content_hash = 'other' WHERE id = {ledger}",),
        remedy="run `llmwiki sweep`, then `llmwiki drain`",
    ),
    Damage(
        code="compile-drift",
        slug="guide",
        statements=("DELETE FROM chunk WHERE id = {retries}",),
        remedy="(removed)",
    ),
    Damage(
        code="compile-drift",
        slug="guide",
        statements=(
            (
                "INSERT INTO topic_chunk SELECT c.parent_id, t.id, {collection}, 9 "
                "FROM chunk c, topic t WHERE c.id = {queue} AND t.key = 'guide'"
            ),
        ),
        remedy="(added)",
    ),
    Damage(
        code="compile-drift",
        slug="ledger",
        statements=("UPDATE topic SET title = 'Other' WHERE key = 'ledger'",),
        remedy="(content)",
    ),
    Damage(
        code="compile-drift",
        slug="ledger",
        severity="warning",
        statements=(STALE + "WHERE slug = 'ledger'",),
        remedy="run `llmwiki drain`",
    ),
    Damage(
        code="compile-drift",
        slug="ledger",
        severity="warning",
        statements=(STALE + ", quarantined_at = now() WHERE slug = 'ledger'",),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="page-without-sources",
        slug="ledger",
        statements=("DELETE FROM page_source WHERE chunk_id = {ledger}",),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="oversized-page",
        slug="ledger",
        severity="warning",
        statements=("UPDATE page SET body = repeat('x', 40001) WHERE slug = 'ledger'",),
        remedy="raise compile.gate.max_page_characters",
    ),
    Damage(
        code="duplicate-slug",
        slug="GUIDE",
        statements=(
            "UPDATE page SET slug = 'GUIDE' WHERE slug = 'ledger'",
            "UPDATE page SET body = replace(body, '[ledger|', '[GUIDE|') WHERE kind = 'overview'",
        ),
        remedy="rename a source file",
    ),
    Damage(
        code="duplicate-slug",
        slug="cafe\u0301",
        statements=(
            "UPDATE page SET slug = U&'caf\\00e9' WHERE slug = 'ledger'",
            "UPDATE page SET slug = U&'cafe\\0301' WHERE slug = 'guide'",
            "UPDATE page SET body = U&'[[caf\\00e9|A]] [[cafe\\0301|B]]' WHERE kind = 'overview'",
        ),
        remedy="rename a source file",
    ),
    Damage(
        code="duplicate-title",
        slug="guide",
        severity="warning",
        statements=("UPDATE page SET title = ' GUIDE' WHERE slug = 'ledger'",),
        remedy="give the sources other titles",
    ),
    Damage(
        code="missing-embedding",
        slug="ledger",
        statements=(f"DELETE FROM embedding WHERE hash = {_TLDR_HASH}",),
        remedy="run `llmwiki reembed`",
    ),
    Damage(
        code="missing-embedding",
        slug=None,
        statements=(f"DELETE FROM embedding WHERE hash = {_CHUNK_HASH}",),
        remedy="1 of 2 chunks of `guide.md`",
    ),
    Damage(
        code="missing-embedding",
        slug="ledger",
        statements=(f"UPDATE embedding SET embedder = 'other' WHERE hash = {_TLDR_HASH}",),
        remedy="run `llmwiki reembed`",
    ),
    Damage(
        code="wrong-sized-embedding",
        slug="ledger",
        statements=(f"UPDATE embedding SET vector = '[1,2]' WHERE hash = {_TLDR_HASH}",),
        remedy="remove it from table embedding, then run `llmwiki reembed`",
    ),
    Damage(
        code="wrong-sized-embedding",
        slug=None,
        statements=(f"UPDATE embedding SET vector = '[1,2]' WHERE hash = {_CHUNK_HASH}",),
        remedy="1 of 2 chunks of `guide.md`",
    ),
    Damage(
        code="missing-search-vector",
        slug="ledger",
        statements=("UPDATE page SET search_vector = NULL WHERE slug = 'ledger'",),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="missing-search-vector",
        slug=None,
        statements=("UPDATE chunk SET lexemes = NULL WHERE id = {ledger}",),
        remedy="bring it back",
    ),
    Damage(
        code="unresolved-citation",
        slug="ledger",
        statements=(
            "UPDATE statement SET chunk_ids = '{999999}' WHERE text = 'A call is one attempt.'",
        ),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="unresolved-citation",
        slug="ledger",
        statements=(
            "UPDATE statement SET chunk_ids = ARRAY[{queue}] WHERE text = 'A call is one attempt.'",
        ),
        remedy="“A call is one attempt.”",
    ),
    Damage(
        code="uncited-statement",
        slug="ledger",
        statements=("UPDATE statement SET chunk_ids = '{}' WHERE text = 'A call is one attempt.'",),
        remedy="“A call is one attempt.”; run `llmwiki compile ledger`",
    ),
    Damage(
        code="unsupported-detail",
        slug="guide",
        statements=(_reword("The queue holds 12 jobs.", "The queue holds 120 jobs."),),
        remedy="says `120`, which the cited chunks do not",
    ),
    Damage(
        code="unsupported-detail",
        slug="guide",
        statements=(_reword("Failed jobs wait.", "a_1 a_2 a_3 a_4"),),
        remedy="`a_1`, `a_2`, `a_3` and 1 more",
    ),
    Damage(
        code="empty-section",
        slug="guide",
        statements=(_reword("See https://example.org/queue for more.", " "),),
        remedy="nothing under “Queue”; run `llmwiki compile guide`",
    ),
    Damage(
        code="empty-section",
        slug="ledger",
        statements=("DELETE FROM statement WHERE text = 'A call is one attempt.'",),
        remedy="has no statements; run `llmwiki compile ledger`",
    ),
    Damage(
        code="empty-section",
        slug="ledger",
        statements=(_reword("The ledger counts calls.", ""),),
        remedy="has no summary; run `llmwiki compile ledger`",
    ),
    Damage(
        code="model-preamble",
        slug="ledger",
        statements=(_reword("A call is one attempt.", "Sure, here is the page."),),
        remedy="“Sure, here is the page.”; run `llmwiki compile ledger`",
    ),
    Damage(
        code="model-preamble",
        slug="ledger",
        statements=(_reword("The ledger counts calls.", "As an AI language model, I count."),),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="fenced-page",
        slug="ledger",
        statements=(_reword("A call is one attempt.", "```markdown\n# Ledger\nA call.\n```"),),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="fenced-page",
        slug="ledger",
        statements=(_reword("A call is one attempt.", "A call is one attempt. ~~~"),),
        remedy="run `llmwiki compile ledger`",
    ),
    Damage(
        code="markup-residue",
        slug="ledger",
        severity="warning",
        statements=(_reword("A call is one attempt.", "Error parsing web page: timeout"),),
        remedy="remove it from the source, then run `llmwiki ingest`",
    ),
    Damage(
        code="markup-residue",
        slug="ledger",
        severity="warning",
        statements=(_reword("A call is one attempt.", "A call {{< ref calls >}} is one."),),
        remedy="remove it from the source",
    ),
)
