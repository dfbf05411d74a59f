"""What a finding tells the operator to do."""

DRAIN = "run `llmwiki drain`"
SWEEP = "run `llmwiki sweep`, then `llmwiki drain`"
INGEST = "run `llmwiki ingest` to derive the contents anew"
REEMBED = "run `llmwiki reembed`"


def recompile(slug: str) -> str:
    """Return how to have one page written anew."""
    return f"run `llmwiki compile {slug}` to write it anew"
