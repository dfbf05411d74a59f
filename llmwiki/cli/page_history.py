"""What `llmwiki page` shows beside the current text: an old revision, or what was refused."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from sqlalchemy import Connection

from llmwiki.cli.documents import print_document
from llmwiki.cli.output import moment, print_json, print_line
from llmwiki.compiler.rendering import render_body
from llmwiki.domain import Collection, SourceChunk
from llmwiki.grounding.statement_rules import REASONS
from llmwiki.store import chunks
from llmwiki.store.compiled_page import Revision
from llmwiki.store.pages import PageRow
from llmwiki.store.refused_drafts import Dropped, StoredRefusal, refusals_of
from llmwiki.store.revisions import find_revision


def show_revision(
    connection: Connection, collection: Collection, page: PageRow, number: int, *, as_json: bool
) -> None:
    """Print a kept revision. Raises UnknownNameError that lists those there are."""
    revision = find_revision(connection, page, number)
    if as_json:
        print_json(collection=collection.name, slug=page.slug, **asdict(revision))
        return
    head = f"# {revision.page.title}\n\n*{_describe(revision, page)}*"
    print_document((f"{head}\n\n{revision.page.body}",))


def show_refusals(
    connection: Connection, collection: Collection, page: PageRow, *, as_json: bool
) -> None:
    """Print the newest draft that the gate refused, with what offended it and what to do."""
    refusals = refusals_of(connection, page.id)
    if as_json:
        print_json(
            collection=collection.name, slug=page.slug, refusals=[asdict(each) for each in refusals]
        )
    elif not refusals:
        print_line(f"no refused draft of page {page.slug} is kept")
    else:
        sources: Sequence[SourceChunk] = ()
        if page.topic_id is not None:
            sources = chunks.topic_sources(connection, [page.topic_id]).get(page.topic_id, ())
        print_document(_refused(page, refusals, sources))


def _describe(revision: Revision, page: PageRow) -> str:
    author = revision.page.generator.name
    facts = [
        f"revision {revision.number} by {author}, {moment(revision.compiled_at)}",
        f"{len(revision.edges)} source chunks",
        "the current one" if revision.number == page.revision else f"current is {page.revision}",
    ]
    return " · ".join(facts)


def _refused(
    page: PageRow, refusals: Sequence[StoredRefusal], sources: Sequence[SourceChunk]
) -> Iterator[str]:
    newest, older = refusals[0], len(refusals) - 1
    refusal = newest.refusal
    run = "" if newest.run_id is None else f" in run {newest.run_id}"
    yield f"# {refusal.draft.title}"
    yield (
        f"*REFUSED {moment(newest.created_at)}{run}, written by {refusal.generator}* · "
        f"{refusal.refusal}"
    )
    yield render_body(refusal.draft.tldr, refusal.draft.sections, sources)
    if refusal.dropped:
        listed = "\n".join(map(_dropped, refusal.dropped))
        yield f"## Statements that the gate took out: {len(refusal.dropped)}\n\n{listed}"
    yield "## What to do\n\n" + "\n".join(f"- {line}" for line in _advice(page))
    if older:
        yield f"{older} older refused drafts are kept; `--json` has them."


def _dropped(dropped: Dropped) -> str:
    why = REASONS.get(dropped.reason, dropped.reason)
    detail = f": {dropped.detail}" if dropped.detail else ""
    # On one line: a block of code would end the item.
    return f"- `{dropped.reason}`, {why}{detail} — {' '.join(dropped.text.split())}"


def _advice(page: PageRow) -> Iterator[str]:
    if not page.stale:
        yield "Nothing: the page is up to date since, or pinned."
    elif page.quarantined_at is not None:
        yield (
            f"The page is in quarantine since {moment(page.quarantined_at)}: "
            f"`llmwiki quarantine retry {page.slug}` tries again, "
            f"`llmwiki quarantine drop {page.slug}` lets the page be as it is."
        )
    else:
        yield (
            f"The page keeps its last text, and the drain tries again after "
            f"{moment(page.not_before)}; that was attempt {page.attempts}."
        )
    yield "Where the statements are right, the figures under `compile.gate` are too strict."
    yield "Where they are wrong again and again, another `generator.model` may do better."
