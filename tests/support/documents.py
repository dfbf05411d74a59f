"""Documents for tests that write to the store themselves."""

from llmwiki.store.documents import DocumentValues


def plain_document(path: str) -> DocumentValues:
    """Return the values of a document that nothing else is known of."""
    return DocumentValues(
        path=path,
        title=path,
        fingerprint="",
        byte_size=0,
        attributes={},
        evidence_family=None,
        authority_tier=None,
        version=None,
    )
