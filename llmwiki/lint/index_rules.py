"""Rules over what a search needs: vectors of the right size, and lexemes."""

from collections.abc import Iterator

from llmwiki.lint.remedies import INGEST, REEMBED, recompile
from llmwiki.lint.rule import Violation, about, rule
from llmwiki.lint.wiki import Wiki
from llmwiki.store.lint_facts import DocumentGaps


@rule("missing-embedding", "error", "A compiled page or a chunk has no vector.")
def missing_embedding(wiki: Wiki) -> Iterator[Violation]:
    """Find what a search by meaning misses; a vector of another embedder does not count."""
    for page in wiki.compiled():
        if page.vector_size is None:
            yield about(page, f"has no vector in the collection's space; {REEMBED}")
    for gap in wiki.document_gaps:
        if gap.without_vector:
            yield _chunks(gap, gap.without_vector, f"no vector; {REEMBED}")


@rule("wrong-sized-embedding", "error", "A vector has another dimension than its collection.")
def wrong_sized_embedding(wiki: Wiki) -> Iterator[Violation]:
    """Find vectors that make a search fail when it meets them."""
    size = f"a vector of another dimension than {wiki.dimension}"
    remedy = f"remove it from table embedding, then {REEMBED}"
    for page in wiki.compiled():
        if page.vector_size not in (None, wiki.dimension):
            yield about(page, f"has {size}; {remedy}")
    for gap in wiki.document_gaps:
        if gap.wrong_sized_vector:
            yield _chunks(gap, gap.wrong_sized_vector, f"{size}; {remedy}")


@rule("missing-search-vector", "error", "A compiled page or a chunk has no lexemes.")
def missing_search_vector(wiki: Wiki) -> Iterator[Violation]:
    """Find what a search by words misses; empty lexemes, of a text of stop words, are no fault."""
    for page in wiki.compiled():
        if not page.has_search_vector:
            remedy = INGEST if page.kind == "overview" else recompile(page.slug)
            yield about(page, f"cannot be found by its words; {remedy}")
    for gap in wiki.document_gaps:
        if gap.without_search_vector:
            remedy = "remove the file, run `llmwiki ingest`, and bring it back"
            yield _chunks(gap, gap.without_search_vector, f"no lexemes; {remedy}")


def _chunks(gap: DocumentGaps, count: int, lack: str) -> Violation:
    # One finding a document: an embedder that was down leaves thousands of chunks behind.
    return Violation(message=f"{count} of {gap.chunks} chunks of `{gap.path}` have {lack}")
