"""`llmwiki why`: why a page is stale, since when, and by which chunks."""

from collections.abc import Iterator
from dataclasses import asdict

from jobs import exit_codes
from jobs.entry import JsonOption
from llmwiki.bootstrap import App
from llmwiki.cli.context_lines import excerpt
from llmwiki.cli.output import moment, print_json, print_line, run
from llmwiki.cli.page import SlugArgument
from llmwiki.cli.selection import OneCollectionOption, OneOwnerOption, select_one
from llmwiki.compiler.fingerprint import recipe_hash
from llmwiki.drift.explanation import Explanation, MovedChunk, explain
from llmwiki.store.pages import find_page

MOST_LISTED = 20
STATEMENT_CHARACTERS = 120


def command(
    slug: SlugArgument,
    *,
    collection: OneCollectionOption = None,
    owner: OneOwnerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell why a page is stale: the reasons, since when, and the chunks that moved."""

    def work(app: App) -> int:
        generator = app.generator.identity
        with app.engine.connect() as connection:
            chosen = select_one(connection, collection, owner)
            explanation = explain(
                connection,
                find_page(connection, chosen, slug),
                recipe=recipe_hash(generator),
                generator_kind=generator.kind,
                generator_name=generator.name,
            )
        if as_json:
            print_json(collection=chosen.name, **asdict(explanation))
        else:
            for line in describe(explanation):
                print_line(line)
        return exit_codes.DONE

    run(work)


def describe(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation in lines, the verdict first."""
    yield _verdict(explanation)
    if explanation.retitled:
        yield (
            f"  content: the topic is called {explanation.title_now!r} now, "
            f"{explanation.title_at_compile!r} when the page was compiled"
        )
    for chunk in explanation.chunks[:MOST_LISTED]:
        yield f"  {_chunk(chunk)}"
        yield from (
            f"      the page says: {excerpt(text, STATEMENT_CHARACTERS)}"
            for text in list(dict.fromkeys(chunk.statements))[:2]
        )
    if len(explanation.chunks) > MOST_LISTED:
        yield f"  … and {len(explanation.chunks) - MOST_LISTED} more chunks"
    if "recipe" in explanation.reasons or explanation.outdated_recipe:
        yield f"  recipe: written by {explanation.written_by}, {_recipe(explanation)}"
    if explanation.attempts:
        yield f"  {explanation.attempts} failed attempts; the last: {explanation.last_error}"


def _verdict(explanation: Explanation) -> str:
    slug, compiled = explanation.slug, moment(explanation.compiled_at)
    match explanation.state:
        case "fresh":
            return f"{slug} is fresh: compiled {compiled}, and nothing moved since"
        case "pending":
            return f"{slug} is not flagged yet, and the next sweep will flag it"
        case "pinned":
            text = "stays without a text"
            if explanation.compiled_at is not None:
                text = f"keeps its text of {compiled}"
            since = moment(explanation.pinned_at)
            return f"{slug} is pinned since {since}: it {text} until its sources move"
        case "retired":
            return f"{slug} is retired: its topic is no longer in the contents"
        case "stale" if explanation.compiled_at is None:
            return f"{slug} was never compiled; it waits since {moment(explanation.since)}"
        case "stale":
            reasons = ", ".join(explanation.reasons)
            return (
                f"{slug} is stale since {moment(explanation.since)} ({reasons}); "
                f"compiled {compiled}"
            )


def _recipe(explanation: Explanation) -> str:
    if explanation.written_by != explanation.configured:
        return f"and {explanation.configured} is configured"
    if explanation.outdated_recipe:
        return "whose prompt, schema or rendering changed since"
    return "which is configured again"


def _chunk(chunk: MovedChunk) -> str:
    where = " > ".join((chunk.document_path or "", *chunk.breadcrumb))
    match chunk.reason:
        case "removed" if chunk.now_on_page:
            return f"removed: {where}, which belongs to page {chunk.now_on_page} now"
        case "removed":
            return f"removed: chunk {chunk.chunk_id} is gone from the corpus"
        case _:
            return f"{chunk.reason}: {where}, ingested {moment(chunk.since)}"
